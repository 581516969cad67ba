// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// children scrubs the elements of a list or an object.
func (w *walker) children(v pcommon.Value, as policy, depth int) outcome {
	switch v.Type() {
	case pcommon.ValueTypeMap:
		return w.object(v.Map(), as, depth)
	case pcommon.ValueTypeSlice:
		return w.list(v.Slice(), as, depth)
	default:
		return unchanged
	}
}

// object scrubs the members of an object. With the members name and value, its value is treated as
// a value under that name.
func (w *walker) object(m pcommon.Map, as policy, depth int) outcome {
	result, remove := w.namedValue(m), false
	for key, member := range m.All() {
		o := w.child(member, named(key), memberPolicy(as, key), w.places.of(key), depth)
		if o == removed {
			member.SetStr(gone)
			remove = true
		}
		result = max(result, min(o, changed))
	}
	if remove {
		removeMarked(m)
	}
	return result
}

// list scrubs the elements of a list. The value of a pair (a list of a name and a value) is treated
// as a value under that name, and so are the values in a flat list of names and values (Node's
// rawHeaders).
func (w *walker) list(list pcommon.Slice, as policy, depth int) outcome {
	if o := w.pair(list, as, depth); o != unchanged {
		return o
	}
	result := w.headers(list)
	for i, member := range list.All() {
		o := w.child(member, element{index: i}, as, noPlace, depth)
		if o == removed { // a list keeps its length
			pcommon.NewValueEmpty().CopyTo(member)
		}
		result = max(result, min(o, changed))
	}
	return result
}

// noPlace is the place of list elements, which have no key.
var noPlace = &place{}

// child scrubs an element of a container.
func (w *walker) child(v pcommon.Value, at element, as policy, p *place, depth int) outcome {
	if w.paths == nil {
		return w.value(v, at.key, as, p, depth+1)
	}
	parents := w.paths
	w.paths = make([]path, len(parents))
	for i := range parents {
		w.paths[i] = parents[i].enter(at)
	}
	o := w.value(v, at.key, as, p, depth+1)
	w.paths = parents
	return o
}

// Policies of some members of frames, exceptions, threads and breadcrumbs. Sentry's default rules
// change only local variables, data of mechanisms, and messages and data of breadcrumbs.
var (
	frameMembers = map[string]policy{
		"vars": policyFull, "data": policyFull,
		"filename": policyLocation, "abs_path": policyLocation, "function": policyLocation, "raw_function": policyLocation,
		"module": policyLocation, "package": policyLocation, "symbol": policyLocation,
		"file_name": policyLocation, "method_name": policyLocation, "class_name": policyLocation, "module_name": policyLocation,
		"context_line": policyCode, "pre_context": policyCode, "post_context": policyCode,
		"code_file": policyLocation, "debug_file": policyLocation, "type": policyNever,
	}
	crumbMembers = map[string]policy{
		"data": policyFull, "message": policyFull,
		"type": policyNever, "category": policyNever, "level": policyNever,
	}
)

// memberPolicy returns the policy of a member of an object.
func memberPolicy(of policy, key string) policy {
	as := of
	switch of {
	case policyFrames:
		if listed, ok := frameMembers[key]; ok {
			return listed
		}
	case policyCrumbs:
		if listed, ok := crumbMembers[key]; ok {
			return listed
		}
	case policyText:
	default:
		return of
	}
	if keepsID(key) {
		return policyNever
	}
	return as
}

// pair scrubs the value of a pair of a name and a value.
func (w *walker) pair(list pcommon.Slice, as policy, depth int) outcome {
	if list.Len() != 2 {
		return unchanged
	}
	name := textAt(list, 0)
	if name == "" || len(name) > maxCachedKey {
		return unchanged
	}
	p := w.places.of(name)
	if o := w.child(list.At(1), named(name), as, p, depth); o == removed {
		pcommon.NewValueEmpty().CopyTo(list.At(1))
	}
	if _, does := w.filters(name, p); !does {
		return unchanged
	}
	w.child(list.At(0), element{index: 0}, policyText, noPlace, depth) // the name is kept, but scrubbed as a text
	return changed
}

// headers filters values of headers in a flat list of names and values.
func (w *walker) headers(list pcommon.Slice) outcome {
	result := unchanged
	if list.Len()%2 != 0 {
		return result
	}
	for i := 0; i < list.Len(); i += 2 {
		name := textAt(list, i)
		if !isHeader(name) || isHarmless(list.At(i+1)) {
			continue
		}
		if rule, does := w.filters(name, w.places.of(name)); does {
			list.At(i + 1).SetStr(Filtered)
			w.count(rule)
			result = changed
		}
	}
	return result
}

// isHeader reports whether a text is certainly the name of a header. Other words may be values.
func isHeader(text string) bool {
	return strings.IndexByte(text, '-') > 0 && len(text) <= maxCachedKey && strings.IndexByte(text, ' ') < 0 ||
		strings.EqualFold(text, "authorization") || strings.EqualFold(text, "cookie")
}

// maxPair is the maximum number of members of an object with a name and a value: a cookie in a HAR
// file has eight.
const maxPair = 8

// namedValue filters the value of an object with a name and a value, as in HAR files.
func (w *walker) namedValue(m pcommon.Map) outcome {
	if m.Len() < 2 || m.Len() > maxPair {
		return unchanged
	}
	name, result := "", unchanged
	for key, member := range m.All() {
		if (strings.EqualFold(key, "name") || strings.EqualFold(key, "key") || strings.EqualFold(key, "header")) && member.Type() == pcommon.ValueTypeStr {
			name = member.Str()
		}
	}
	if len(name) > maxCachedKey {
		return unchanged
	}
	rule, does := w.filters(name, w.places.of(name))
	if !does {
		return unchanged
	}
	for key, member := range m.All() {
		if (strings.EqualFold(key, "value") || strings.EqualFold(key, "values")) && !isHarmless(member) {
			member.SetStr(Filtered)
			w.count(rule)
			result = changed
		}
	}
	return result
}

// textAt returns the text of an element, or "" if it is not a text.
func textAt(list pcommon.Slice, i int) string {
	if element := list.At(i); element.Type() == pcommon.ValueTypeStr {
		return element.Str()
	}
	return ""
}
