// SPDX-License-Identifier: Apache-2.0

package scrub

import "go.opentelemetry.io/collector/pdata/pcommon"

// path is the position of a value in Sentry's data, from the root.
type path struct {
	elements []element
	explicit bool // only selectors that name it match: not ** and not $string
}

type element struct {
	key   string
	index int      // -1 = under a key
	types []string // of selectorTypes
}

func (p path) enter(e element) path {
	return path{elements: append(p.elements[:len(p.elements):len(p.elements)], e), explicit: p.explicit}
}

func named(key string, types ...string) element { return element{key: key, index: -1, types: types} }

// typeKeys maps types of values to their keys in events.
var typeKeys = map[string]string{"http": "request", "error": "values", "stack": "stacktrace"}

// pathOf reads a path of places.txt.
func pathOf(text string) path {
	s, err := parseSafeField(text)
	all, ok := s.(steps)
	if err != nil || !ok {
		return path{}
	}
	p := path{elements: []element{named("", "event")}}
	for _, each := range all {
		switch each.kind {
		case stepType:
			key := typeKeys[each.key]
			if key == "" {
				key = each.key
			}
			p = p.enter(named(key, each.key))
		case stepKey:
			p = p.enter(named(each.key))
		}
	}
	return p
}

// kindOf returns the type of a value as selectors name it.
func kindOf(v pcommon.Value) string {
	switch v.Type() {
	case pcommon.ValueTypeStr, pcommon.ValueTypeBytes:
		return "string"
	case pcommon.ValueTypeInt, pcommon.ValueTypeDouble:
		return "number"
	case pcommon.ValueTypeBool:
		return "boolean"
	case pcommon.ValueTypeSlice:
		return "array"
	case pcommon.ValueTypeMap:
		return "object"
	default:
		return ""
	}
}
