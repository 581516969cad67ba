// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// SetJSON sets a value of any type from JSON text and keeps the order of members. Whole numbers
// become ints; those beyond 64 bits become text. The decoder has bounded the depth.
func SetJSON(value pcommon.Value, text []byte) {
	if setScalar(value, text) {
		return
	}
	r := jsonReader{json.NewDecoder(bytes.NewReader(text)), text}
	r.UseNumber()
	r.set(value)
}

// setScalar sets a value that is neither an object nor a list, as in nearly all attributes. A
// json.Decoder for each of them would take most of the time. The text must be valid.
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

type jsonReader struct {
	*json.Decoder
	text []byte
}

func (r *jsonReader) set(value pcommon.Value) {
	token, err := r.Token()
	if err != nil {
		return
	}
	switch t := token.(type) {
	case string:
		value.SetStr(t)
	case bool:
		value.SetBool(t)
	case json.Number:
		setNumber(value, t)
	case json.Delim:
		if t == '{' {
			r.setMap(value)
		} else {
			r.setList(value)
		}
	}
}

func (r *jsonReader) setMap(value pcommon.Value) {
	start := r.InputOffset() - 1
	m, count := value.SetEmptyMap(), 0
	for ; r.More(); count++ {
		key, err := r.Token()
		if err != nil {
			return
		}
		if count < MaxMembers {
			r.set(m.PutEmpty(key.(string)))
			continue
		}
		var skipped json.RawMessage
		if r.Decode(&skipped) != nil {
			return
		}
	}
	_, _ = r.Token()
	if count > MaxMembers {
		value.SetStr(strings.ToValidUTF8(string(r.text[start:r.InputOffset()]), "\uFFFD"))
	}
}

func (r *jsonReader) setList(value pcommon.Value) {
	list := value.SetEmptySlice()
	for r.More() {
		r.set(list.AppendEmpty())
	}
	_, _ = r.Token()
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
	d := json.NewDecoder(bytes.NewReader(text))
	_, _ = d.Token()
	for n := 0; d.More() && n < MaxMembers; n++ {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return true
		}
		visit(key.(string), value)
	}
	return !d.More()
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
func JsonText(text []byte) (content string) {
	if len(text) < 2 || text[0] != '"' {
		return ""
	}
	if inside := text[1 : len(text)-1]; bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside) // without escapes
	}
	if json.Unmarshal(text, &content) != nil {
		return ""
	}
	return content
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

// Joined returns the text of a header, whose values are a list in OpenTelemetry.
func Joined(value pcommon.Value) string {
	if value.Type() != pcommon.ValueTypeSlice {
		return value.AsString()
	}
	if value.Slice().Len() == 1 {
		return value.Slice().At(0).AsString()
	}
	var texts []string
	for _, text := range value.Slice().All() {
		texts = append(texts, text.AsString())
	}
	return strings.Join(texts, ", ")
}
