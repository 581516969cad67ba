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
		return w.list(v.Slice(), as, policyText, depth)
	default:
		return unchanged
	}
}

// object scrubs the members of an object. With the members name and value, its value is treated as
// a value under that name.
func (w *walker) object(m pcommon.Map, as policy, depth int) outcome {
	result, remove := w.namedValue(m), false
	for key, member := range m.All() {
		o := w.child(member, memberPolicy(as, key), w.places.of(key), depth, named(key))
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
// rawHeaders). Each element is visited once: two visits of the value of a pair would be 2ⁿ visits
// in n nested pairs.
func (w *walker) list(list pcommon.Slice, as, nameAs policy, depth int) outcome {
	name, p := w.pair(list)
	_, filtered := w.filters(name, p)
	result := unchanged
	if !filtered {
		result = w.headers(list)
	}
	for i, member := range list.All() {
		var o outcome
		switch {
		case i == 1 && name != "":
			o = w.child(member, as, p, depth, named(name), element{index: i})
		case filtered: // the name of the pair is kept, but scrubbed
			o = w.child(member, nameAs, noPlace, depth, element{index: i})
		default:
			o = w.child(member, as, noPlace, depth, element{index: i})
		}
		if o == removed { // a list keeps its length
			pcommon.NewValueEmpty().CopyTo(member)
		}
		result = max(result, min(o, changed))
	}
	return result
}

// noPlace is the place of list elements, which have no key.
var noPlace = &place{}

// maxPaths bounds the paths of a value: an attribute has five, and each pair around a value can
// double them.
const maxPaths = 20

// child scrubs an element of a container, which has one or two names in it. The first one is its
// key.
func (w *walker) child(v pcommon.Value, as policy, p *place, depth int, at ...element) outcome {
	if w.paths == nil {
		return w.value(v, at[0].key, as, p, depth+1)
	}
	parents := w.paths
	if len(at)*len(parents) > maxPaths {
		at = at[:1]
	}
	w.paths = make([]path, 0, len(at)*len(parents))
	for _, each := range at {
		for i := range parents {
			w.paths = append(w.paths, parents[i].enter(each))
		}
	}
	o := w.value(v, at[0].key, as, p, depth+1)
	w.paths = parents
	return o
}

// Policies of some members of frames, exceptions, threads and breadcrumbs. Sentry's default rules
// change only local variables, data of mechanisms, and messages and data of breadcrumbs.
var (
	frameMembers = map[string]policy{
		"vars": policyFull, "data": policyData, "description": policyFull,
		"filename": policyLocation, "abs_path": policyLocation, "function": policyLocation, "raw_function": policyLocation,
		"module": policyLocation, "package": policyLocation, "symbol": policyLocation,
		"file_name": policyLocation, "method_name": policyLocation, "class_name": policyLocation, "module_name": policyLocation,
		"context_line": policyCode, "pre_context": policyCode, "post_context": policyCode,
		"code_file": policyLocation, "debug_file": policyLocation, "type": policyNever,
	}
	dataMembers = map[string]policy{ // of frames
		"sourcemap": policyText, "orig_function": policyLocation, "orig_filename": policyLocation,
	}
	crumbMembers = map[string]policy{
		"data": policyFull, "message": policyFull,
		"type": policyNever, "category": policyNever, "level": policyNever,
	}
)

// memberPolicy returns the policy of a member of an object.
func memberPolicy(of policy, key string) policy {
	if key == "REMOTE_ADDR" { // of the environment of a request: Sentry removes it, whatever it holds
		return policyIP
	}
	as := of
	switch of {
	case policyFrames, policyTemplate:
		if of == policyTemplate && (key == "filename" || key == "abs_path") {
			return policyFull
		}
		if listed, ok := frameMembers[key]; ok {
			return listed
		}
	case policyCrumbs:
		if listed, ok := crumbMembers[key]; ok {
			return listed
		}
	case policyData:
		if listed, ok := dataMembers[key]; ok {
			return listed
		}
		return policyFull
	case policyText:
	default:
		return of
	}
	if keepsID(key) {
		return policyNever
	}
	return as
}

// pair returns the name of a pair of a name and a value, and its place; "" if a list is none.
func (w *walker) pair(list pcommon.Slice) (name string, p *place) {
	if list.Len() != 2 {
		return "", noPlace
	}
	if name = textAt(list, 0); name == "" || len(name) > maxCachedKey {
		return "", noPlace
	}
	return name, w.places.of(name)
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
