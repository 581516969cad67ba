// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// PlainJSON returns a value as text with sorted keys, without nulls and empty texts, lists and
// objects, which are equivalent to absent ones.
func PlainJSON(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	value, err := decodeJSON(text)
	if err != nil {
		return "broken: " + string(text)
	}
	if value = withoutEmpty(value); value == nil {
		return ""
	}
	plain, _ := json.Marshal(value)
	return string(plain)
}

// JSONLines returns a line for each scalar of a value, with its path, in the order of paths. Nulls
// and empty texts, lists and objects have none.
func JSONLines(text []byte) []string {
	value, err := decodeJSON(text)
	if err != nil {
		return []string{"broken: " + string(text)}
	}
	var lines []string
	var visit func(path string, value any)
	visit = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, member := range v {
				visit(path+"/"+key, member)
			}
		case []any:
			for i, element := range v {
				visit(fmt.Sprintf("%s[%06d]", path, i), element)
			}
		default:
			lines = append(lines, fmt.Sprintf("%s = %#v", path, v))
		}
	}
	visit("", withoutEmpty(value))
	slices.Sort(lines)
	return lines
}

func decodeJSON(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

func withoutEmpty(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			if v[key] = withoutEmpty(member); v[key] == nil {
				delete(v, key)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = withoutEmpty(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	case json.Number:
		return plainNumber(v)
	}
	return value
}

// plainNumber returns a number in one form. Numbers above 64 bits are text in OTLP.
func plainNumber(number json.Number) any {
	if _, err := number.Int64(); err == nil {
		return number
	}
	if f, err := number.Float64(); err == nil && strings.ContainsAny(string(number), ".eE") {
		return json.Number(fmt.Sprint(f))
	}
	return string(number)
}
