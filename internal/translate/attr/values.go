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

// SetJSON sets a value of any shape from the text of a JSON value, types as they are, members in their order: whole numbers
// are ints, those beyond 64 bits the text of their digits. The decoder has bounded the depth.
func SetJSON(value pcommon.Value, text []byte) {
	if setScalar(value, text) {
		return
	}
	r := jsonReader{json.NewDecoder(bytes.NewReader(text)), text}
	r.UseNumber()
	r.set(value)
}

// setScalar sets what is no object and no list: nearly all attributes, for which a json.Decoder of their own would be most of
// the work. The text has been validated.
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

// MaxMembers is how many members of a JSON object become a map. One with more becomes its own text, and nothing of it is
// lost; decoding has counted it.
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

// PutRaw sets an attribute from JSON text; nil and empty objects and lists say nothing.
func PutRaw(m pcommon.Map, key string, text []byte) {
	if len(text) == 0 || string(text) == "{}" || string(text) == "[]" {
		return
	}
	SetJSON(m.PutEmpty(key), text)
}

// EachMember visits the members of a JSON object in their order, at most MaxMembers of them: all says whether there were no
// more. There are none where it is no object.
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

// PlainText is the content of a JSON string, or the text of a number or a boolean.
func PlainText(text []byte) string {
	if len(text) == 0 || text[0] == '{' || text[0] == '[' || text[0] == 'n' {
		return ""
	}
	if text[0] != '"' {
		return string(text)
	}
	return JsonText(text)
}

// JsonText is the content of a JSON string, "" where it is none.
func JsonText(text []byte) (content string) {
	if len(text) < 2 || text[0] != '"' {
		return ""
	}
	if inside := text[1 : len(text)-1]; bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside) // as it stands
	}
	if json.Unmarshal(text, &content) != nil {
		return ""
	}
	return content
}

// CanonicalInt reads the canonical decimal of an int64.
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

// PutText sets an attribute unless the text is empty: to Sentry, empty and absent are the same. The text is copied: it may
// be a view into a request.
func PutText(m pcommon.Map, key, text string) {
	PutShared(m, key, strings.Clone(text))
}

// PutShared is PutText for a text of which there is a copy already.
func PutShared(m pcommon.Map, key, text string) {
	if text != "" {
		m.PutStr(key, text)
	}
}

// PutDecimal sets an int where the text is the canonical decimal of an int64, else a string, as thread ids are everywhere.
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
