// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"encoding/json"
	"iter"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// SetJSON sets a value of any type from JSON text and keeps the order of members. Whole numbers
// become ints; those beyond 64 bits become text. The decoder has bounded the depth.
func SetJSON(value pcommon.Value, text []byte) {
	if setScalar(value, text) {
		return
	}
	r := jsonReader{jsonscan.Scanner{Data: text}}
	r.set(value)
}

// setScalar sets a value that is neither an object nor a list, as in nearly all attributes. The
// text must be valid.
func setScalar(value pcommon.Value, text []byte) bool {
	if len(text) == 0 {
		return true
	}
	switch text[0] {
	case '{', '[':
		return false
	case '"':
		value.SetStr(JsonText(text))
	case 't', 'f':
		value.SetBool(text[0] == 't')
	case 'n':
	default:
		setNumber(value, json.Number(text))
	}
	return true
}

// MaxMembers is the maximum number of members of a map. A JSON object with more is kept as text;
// decoding has counted it.
const MaxMembers = jsonscan.MaxMembers

type jsonReader struct{ jsonscan.Scanner }

func (r *jsonReader) set(value pcommon.Value) {
	switch r.Peek() {
	case '{':
		r.setMap(value)
	case '[':
		r.setList(value)
	case '"':
		value.SetStr(string(jsonscan.ValidUTF8(r.Text())))
	default:
		setScalar(value, r.Value())
	}
}

func (r *jsonReader) setMap(value pcommon.Value) {
	start, count := r.Pos, 0
	m := value.SetEmptyMap()
	for r.Open('{'); ; {
		key, more := r.Member(&count)
		switch {
		case !more && count > MaxMembers:
			value.SetStr(string(jsonscan.ValidUTF8(r.Data[start:r.Pos])))
			return
		case !more:
			return
		case count > MaxMembers:
			r.Skip()
		default:
			r.set(m.PutEmpty(string(jsonscan.ValidUTF8(key))))
		}
	}
}

func (r *jsonReader) setList(value pcommon.Value) {
	list, n := value.SetEmptySlice(), 0
	for r.Open('['); r.Element(&n); {
		r.set(list.AppendEmpty())
	}
}

func setNumber(value pcommon.Value, number json.Number) {
	if strings.ContainsAny(string(number), ".eE") {
		if float, err := number.Float64(); err == nil {
			value.SetDouble(float)
			return
		}
	} else if whole, err := number.Int64(); err == nil {
		value.SetInt(whole)
		return
	}
	value.SetStr(string(number))
}

// PutRaw sets an attribute from JSON text, unless it is absent or an empty object or list.
func PutRaw(m pcommon.Map, key string, text []byte) {
	if len(text) == 0 || string(text) == "{}" || string(text) == "[]" {
		return
	}
	SetJSON(m.PutEmpty(key), text)
}

// EachMember visits the members of a JSON object in order, at most MaxMembers. It reports whether
// it visited all. Other JSON values have no members.
func EachMember(text []byte, visit func(key string, value []byte)) (all bool) {
	if len(text) == 0 || text[0] != '{' {
		return true
	}
	s, n := jsonscan.Scanner{Data: text}, 0
	for s.Open('{'); ; {
		key, more := s.Member(&n)
		if !more || n > MaxMembers {
			return !more
		}
		name := string(jsonscan.ValidUTF8(key))
		if value := s.Value(); s.Err == nil {
			visit(name, value)
		}
	}
}

// PlainText returns the content of a JSON string, or the text of a number or boolean.
func PlainText(text []byte) string {
	if len(text) == 0 || text[0] == '{' || text[0] == '[' || text[0] == 'n' {
		return ""
	}
	if text[0] != '"' {
		return string(text)
	}
	return JsonText(text)
}

// JsonText returns the content of a JSON string, or "" for other values.
func JsonText(text []byte) string {
	if inside, ok := jsonscan.Unescaped(text); ok {
		return string(inside)
	}
	var content string
	if len(text) < 2 || text[0] != '"' || json.Unmarshal(text, &content) != nil {
		return ""
	}
	return content
}

// IsJsonText reports whether the JsonText of a value is a text.
func IsJsonText(value []byte, text string) bool {
	if inside, ok := jsonscan.Unescaped(value); ok {
		return string(inside) == text
	}
	return JsonText(value) == text
}

// CanonicalInt parses the canonical decimal of an int64.
func CanonicalInt(text string) (number int64, ok bool) {
	number, err := strconv.ParseInt(text, 10, 64)
	return number, err == nil && strconv.FormatInt(number, 10) == text
}

func FirstText(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// TextOf returns the text of an attribute, or "" if it is absent.
func TextOf(m pcommon.Map, key string) string {
	if value, ok := m.Get(key); ok {
		return value.AsString()
	}
	return ""
}

// Maps returns the maps of a list; other elements are no data of ours.
func Maps(list pcommon.Value) iter.Seq[pcommon.Map] {
	return func(yield func(pcommon.Map) bool) {
		if list.Type() != pcommon.ValueTypeSlice {
			return
		}
		for i := range list.Slice().Len() { // All would need allocations
			if element := list.Slice().At(i); element.Type() == pcommon.ValueTypeMap && !yield(element.Map()) {
				return
			}
		}
	}
}

// PutText sets an attribute unless the text is empty, because Sentry treats empty and absent alike.
// It copies the text, which may be part of a request.
func PutText(m pcommon.Map, key, text string) {
	PutShared(m, key, strings.Clone(text))
}

// PutShared is PutText for a text that is already a copy.
func PutShared(m pcommon.Map, key, text string) {
	if text != "" {
		m.PutStr(key, text)
	}
}

// PutDecimal sets an int if the text is the canonical decimal of an int64, else a string, as for
// all thread IDs.
func PutDecimal(m pcommon.Map, key, text string) {
	if text == "" {
		return
	}
	if number, ok := CanonicalInt(text); ok {
		m.PutInt(key, number)
		return
	}
	PutText(m, key, text)
}
