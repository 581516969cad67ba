// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// The scalars below never fail to decode: an invalid value leaves them unset and marked, so that a
// field of the wrong type affects no other field. Strict validation rejects marked ones.

// ID is a UUID in any spelling that the backend accepts: in any letter case, with or without
// hyphens, braces and urn:uuid:.
type ID struct {
	UUID  uuid.UUID
	Empty bool // sent as ""
	Bad   bool // sent as other text or value that is not a UUID
}

func (id *ID) UnmarshalJSON(text []byte) error {
	*id = ID{}
	if isNull(text) {
		return nil
	}
	content, ok := stringOf(text)
	if ok && content == "" {
		id.Empty = true
		return nil
	}
	parsed, err := uuid.Parse(content)
	if id.Bad = !ok || err != nil; !id.Bad {
		id.UUID = parsed
	}
	return nil
}

// Set reports whether there is an ID. The nil UUID does not count as an ID.
func (id ID) Set() bool { return id.UUID != uuid.Nil }

// String returns the ID in its usual form, "" for none.
func (id ID) String() string {
	if !id.Set() {
		return ""
	}
	return id.UUID.String()
}

func (id ID) flawed() bool { return id.Bad || id.Empty }

// Time is an instant in RFC 3339. Android writes eight decimals, iOS three.
type Time struct {
	UnixNano uint64
	Set      bool
	Bad      bool // not a time, or out of the range of 64 bits of nanoseconds since 1970
	NoZone   bool // read as UTC
}

func (t *Time) UnmarshalJSON(text []byte) error {
	*t = Time{}
	if isNull(text) {
		return nil
	}
	content, _ := stringOf(text)
	instant, err := time.Parse(time.RFC3339Nano, content)
	if err != nil {
		instant, err = time.Parse("2006-01-02T15:04:05.999999999", content)
		t.NoZone = err == nil
	}
	seconds := instant.Unix()
	if t.Bad = err != nil || seconds <= 0 || seconds >= maxSeconds; t.Bad {
		t.NoZone = false
		return nil
	}
	t.UnixNano, t.Set = uint64(instant.UnixNano()), true
	return nil
}

func (t Time) flawed() bool { return t.Bad || t.NoZone }

// maxSeconds is the last second that fits 64 bits of nanoseconds.
const maxSeconds = math.MaxInt64 / 1_000_000_000

// Int is a whole number. Fractions are truncated, because SDK bridges write 1080.0. The text of a
// number is read as the number, because the published document defines build_size as a string.
type Int struct {
	Value    int64
	Set      bool
	Mistyped bool // not written as a whole number
}

func (n *Int) UnmarshalJSON(text []byte) error {
	*n = Int{}
	if isNull(text) {
		return nil
	}
	content, quoted := stringOf(text)
	if quoted {
		text = []byte(content)
	}
	if whole, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		n.Value, n.Set, n.Mistyped = whole, true, quoted
		return nil
	}
	n.Mistyped = true
	if float, err := strconv.ParseFloat(string(text), 64); err == nil && math.Abs(float) < 1<<63 {
		n.Value, n.Set = int64(float), true
	}
	return nil
}

func (n Int) flawed() bool { return n.Mistyped }

// Float is any number.
type Float struct {
	Value float64
	Set   bool
	Bad   bool
}

func (n *Float) UnmarshalJSON(text []byte) error {
	*n = Float{}
	if isNull(text) {
		return nil
	}
	float, err := strconv.ParseFloat(string(text), 64)
	if n.Bad = err != nil; !n.Bad {
		n.Value, n.Set = float, true
	}
	return nil
}

func (n Float) flawed() bool { return n.Bad }

// Text is a string, or the text of a number: SDKs write process IDs as either.
type Text string

func (t *Text) UnmarshalJSON(text []byte) error {
	*t = ""
	if content, ok := stringOf(text); ok {
		*t = Text(content)
	} else if len(text) > 0 && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') {
		*t = Text(text)
	}
	return nil
}

// Pair is a member of an object whose keys and order the sender chooses.
type Pair struct {
	Key   string
	Value json.RawMessage // never null
}

// UserAttributes are the attributes that the app has set, in its order.
type UserAttributes struct {
	Pairs    []Pair // at most maxUserAttributes+1
	Bad      bool   // neither an object nor absent
	Mistyped bool   // some were not a text, number or boolean; these are not in Pairs
}

// UnmarshalJSON also reads the text of an object, which iOS before 0.6 sends.
func (u *UserAttributes) UnmarshalJSON(text []byte) error {
	*u = UserAttributes{}
	if content, ok := stringOf(text); ok {
		if text = []byte(content); len(text) == 0 {
			return nil
		}
	}
	if isNull(text) {
		return nil
	}
	u.Bad = !members(text, func(key string, value json.RawMessage) bool {
		switch value[0] {
		case '{', '[', 'n':
			u.Mistyped = true
			return true
		}
		u.Pairs = append(u.Pairs, Pair{key, value})
		return len(u.Pairs) <= maxUserAttributes
	})
	return nil
}

func (u UserAttributes) flawed() bool { return u.Bad || u.Mistyped }

// Headers are the headers of an http event.
type Headers struct {
	Pairs    []Pair // the values are texts
	Mistyped bool   // some were not texts, or there were too many
}

func (h *Headers) UnmarshalJSON(text []byte) error {
	*h = Headers{}
	if isNull(text) {
		return nil
	}
	ok := members(text, func(key string, value json.RawMessage) bool {
		switch {
		case value[0] != '"' || len(h.Pairs) == maxHeaders:
			h.Mistyped = true
		default:
			h.Pairs = append(h.Pairs, Pair{key, value})
		}
		return true
	})
	h.Mistyped = h.Mistyped || !ok
	return nil
}

// Get returns a header by its name in any case, "" for none.
func (h Headers) Get(name string) string {
	for _, pair := range h.Pairs {
		if bytes.EqualFold([]byte(pair.Key), []byte(name)) {
			content, _ := stringOf(pair.Value)
			return content
		}
	}
	return ""
}

func (h Headers) flawed() bool { return h.Mistyped }

// members visits the members of a JSON object until visit returns false. It returns false if the
// text is not an object.
func members(text []byte, visit func(key string, value json.RawMessage) bool) bool {
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	_, _ = d.Token()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false
		}
		if !visit(key.(string), value) {
			return true
		}
	}
	return true
}

func stringOf(text []byte) (content string, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return "", false
	}
	return content, json.Unmarshal(text, &content) == nil
}

func isNull(text []byte) bool { return string(text) == "null" }

var flawType = reflect.TypeFor[interface{ flawed() bool }]()

// hasFlaws reports whether any scalar of a decoded item had the wrong type.
func hasFlaws(v reflect.Value) bool {
	if v.Type().Implements(flawType) {
		return v.Interface().(interface{ flawed() bool }).flawed()
	}
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && hasFlaws(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if hasFlaws(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Struct {
			return false
		}
		for i := range v.Len() {
			if hasFlaws(v.Index(i)) {
				return true
			}
		}
	}
	return false
}
