// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"go.opentelemetry.io/collector/confmap"
)

// mistakes finds the values of a configuration that do not fit its struct type, before confmap
// reads them: confmap accepts some of them, such as 30 for a duration, which it reads as 30 ns, or
// 1.5 for a whole number, and its other errors state no fix.
//
// It looks into structs, lists, maps and configoptional's Optional, but not into types that read
// text themselves.
type mistakes struct {
	root  reflect.Type
	found []error

	// sizes has the numbers of sizes with a unit, by path.
	sizes map[string]any

	// texts are numbers and other values for texts. They are mistakes unless they come from an
	// environment variable, of which confmap passes on only the parsed form.
	texts []textMistake
}

type textMistake struct {
	error
	value any
}

func (m *mistakes) add(path, format string, args ...any) {
	m.found = append(m.found, fmt.Errorf("%s: "+format, append([]any{path}, args...)...))
}

var (
	duration        = reflect.TypeFor[time.Duration]()
	unmarshaler     = reflect.TypeFor[confmap.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// check checks a value for the type t. size reports whether a number is a size in bytes.
func (m *mistakes) check(t reflect.Type, value any, path string, size bool) {
	t, optional := valueType(t)
	switch value.(type) {
	case bool, string, int, int64, uint64, float64, map[string]any, []any:
	default:
		return // nil, so that the default applies, or not from YAML
	}
	isMap := reflect.TypeOf(value).Kind() == reflect.Map
	switch kind := t.Kind(); {
	case t == duration:
		m.checkDuration(value, path)
	case kind == reflect.String:
		if _, is := value.(string); !is {
			text := fmt.Errorf("%s: is %s, must be text; put it in quotes", path, kindOf(value))
			m.texts = append(m.texts, textMistake{text, value})
		}
	case reflect.PointerTo(t).Implements(textUnmarshaler) && !isMap:
		if _, is := value.(string); !is {
			m.add(path, "is %s, must be text", shown(value))
		}
	case kind == reflect.Struct && isMap:
		m.checkStruct(t, value, path, optional)
	case kind == reflect.Struct && len(keysOf(t)) > 0:
		m.add(path, "is %s, must be a map of settings, e.g. {%s}", shown(value), exampleOf(t, value))
	case kind == reflect.Slice && !reflect.PointerTo(t).Implements(unmarshaler):
		m.checkList(t.Elem(), value, path)
	case kind == reflect.Map && isMap:
		for _, key := range keys(value) {
			m.check(t.Elem(), value.(map[string]any)[key], path+"::"+key, size)
		}
	case kind == reflect.Map:
		m.add(path, "is %s, must be a map", shown(value))
	case kind == reflect.Bool:
		if _, is := value.(bool); !is {
			m.add(path, "is %s, must be true or false", shown(value))
		}
	case kind >= reflect.Int && kind <= reflect.Uint64:
		m.checkInteger(t, value, path, size)
	case kind == reflect.Float32 || kind == reflect.Float64:
		if text, is := value.(string); is && isNumber(text) {
			m.add(path, "is %s, which is text; remove the quotes", shown(value))
		} else if !reflect.ValueOf(value).CanConvert(t) || is {
			m.add(path, "is %s, must be a number, e.g. 0.1", shown(value))
		}
	}
}

// valueType returns the type of the value behind pointers and Optional.
func valueType(t reflect.Type) (value reflect.Type, optional bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if strings.HasSuffix(t.PkgPath(), "/configoptional") {
		if get, has := reflect.PointerTo(t).MethodByName("Get"); has {
			value, _ = valueType(get.Type.Out(0))
			return value, true
		}
	}
	return t, false
}

func (m *mistakes) checkStruct(t reflect.Type, value any, path string, optional bool) {
	fields := keysOf(t)
	if len(fields) == 0 && t != m.root {
		return // reads its keys itself
	}
	settings := value.(map[string]any)
	for _, key := range keys(value) {
		fieldPath := strings.TrimPrefix(path+"::"+key, "::")
		field, known := fields[key]
		switch {
		case known:
			// A queue may count requests instead of bytes.
			sizer, counts := settings["sizer"]
			m.check(field, settings[key], fieldPath, isSize(key) && (!counts || sizer == "bytes"))
		case optional && key == "enabled":
			m.check(reflect.TypeFor[bool](), settings[key], fieldPath, false)
		default:
			m.add(fieldPath, "is not a known key%s", m.suggest(key, settings[key], fields))
		}
	}
}

// keysOf returns the types of the keys of a struct, including those of structs squashed into it.
func keysOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		key, options, _ := strings.Cut(field.Tag.Get("mapstructure"), ",")
		switch {
		case !field.IsExported() || key == "-":
		case strings.HasPrefix(options, "squash"):
			maps.Copy(fields, keysOf(field.Type))
		default:
			fields[cmp.Or(key, field.Name)] = field.Type
		}
	}
	return fields
}

// suggest returns the fix of an unknown key: the nearest key, the section that has the key, or all
// keys.
func (m *mistakes) suggest(key string, value any, fields map[string]reflect.Type) string {
	known := slices.Sorted(maps.Keys(fields))
	if len(known) == 0 {
		return "; there are no settings"
	}
	if below := keys(value); len(below) > 0 && !slices.ContainsFunc(below, func(key string) bool { return fields[key] == nil }) {
		return fmt.Sprintf("; move its settings, e.g. %s, one level up", below[0])
	}
	if near := Nearest(key, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if paths := pathsOf(m.root, key, ""); len(paths) == 1 {
		return fmt.Sprintf("; did you mean %q?", paths[0])
	}
	return ", must be one of " + strings.Join(known, ", ")
}

// Nearest returns the known key that the user most likely means, or "": one that the user has
// shortened to some of its words, or with the fewest wrong letters.
func Nearest(key string, known []string) string {
	for _, candidate := range known {
		if strings.HasSuffix(candidate, "_"+key) || strings.HasPrefix(candidate, key) && len(key) >= 3 || strings.HasSuffix(key, "_"+candidate) {
			return candidate
		}
	}
	best, fewest := "", max(2, len(key)/4)+1
	for _, candidate := range known {
		if wrong := distance(key, candidate); wrong < fewest && wrong < len(candidate) {
			best, fewest = candidate, wrong
		}
	}
	return best
}

// distance returns the Levenshtein distance of two keys.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// pathsOf returns the paths of the sections of a struct that have a key.
func pathsOf(t reflect.Type, key, path string) (paths []string) {
	t, _ = valueType(t)
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(textUnmarshaler) {
		return nil
	}
	fields := keysOf(t)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name == key && path != "" {
			paths = append(paths, path+key)
		}
		paths = append(paths, pathsOf(fields[name], key, path+name+"::")...)
	}
	return paths
}

func (m *mistakes) checkList(element reflect.Type, value any, path string) {
	list, isList := value.([]any)
	_, isText := value.(string)
	base, _ := valueType(element)
	switch {
	case isList:
		for i, v := range list {
			m.check(element, v, fmt.Sprintf("%s[%d]", path, i), false)
		}
	case isText && element == reflect.TypeFor[string](): // confmap splits it at commas
	case base.Kind() == reflect.Struct && len(keysOf(base)) > 0:
		m.add(path, "is %s, must be a list; start each entry with a dash, e.g. `- %s`", kindOf(value), exampleOf(base, value))
	default:
		m.add(path, "is %s, must be a list; start each entry with a dash", kindOf(value))
	}
}

func (m *mistakes) checkDuration(value any, path string) {
	v := reflect.ValueOf(value)
	switch text, isText := value.(string); {
	case isText:
		if _, err := time.ParseDuration(text); err != nil {
			m.add(path, "is %s, must be a duration with the unit ms, s, m or h, e.g. 30s or 24h", shown(value))
		}
	case v.CanInt() || v.CanUint() || v.CanFloat():
		if !v.IsZero() {
			m.add(path, "is %v, a number without a unit; use %[2]vs for seconds, or %[2]vms for milliseconds", value)
		}
	default:
		m.add(path, "is %s, must be a duration, e.g. 30s", shown(value))
	}
}

func (m *mistakes) checkInteger(t reflect.Type, value any, path string, size bool) {
	v := reflect.ValueOf(value)
	unsigned := t.Kind() >= reflect.Uint
	switch text, isText := value.(string); {
	case isText && size:
		bytes, err := parseSize(text)
		if err != nil {
			m.add(path, "%w", err)
		} else if m.sizes != nil {
			m.sizes[path] = bytes
		}
	case isText && isNumber(text):
		m.add(path, "is %s, which is text; remove the quotes", shown(value))
	case v.CanFloat() && (v.Float() != math.Trunc(v.Float()) || math.Abs(v.Float()) >= math.MaxInt64):
		m.add(path, "is %v, must be a whole number of at most %d", value, math.MaxInt64)
	case unsigned && (v.CanInt() && v.Int() < 0 || v.CanFloat() && v.Float() < 0):
		m.add(path, "is %v, must not be negative", value)
	case !v.CanInt() && !v.CanUint() && !v.CanFloat():
		m.add(path, "is %s, must be a whole number", shown(value))
	}
}

// isSize reports whether the values of a key are sizes in bytes.
func isSize(key string) bool {
	return strings.Contains(key, "bytes") || strings.Contains(key, "size") || key == "min_body_rate"
}

// units are the units of sizes.
var units = map[string]float64{
	"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

// parseSize returns the number of bytes of a size with a unit, e.g. 1.5GiB.
func parseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	number, err := strconv.ParseFloat(digits, 64)
	unit, known := units[strings.TrimSpace(text[len(digits):])]
	bytes := math.Floor(number * unit)
	if err != nil || !known || !(math.Abs(bytes) < math.MaxInt64) {
		if isNumber(text) {
			return 0, fmt.Errorf("is %s, which is text; remove the quotes, or add a unit", shown(text))
		}
		return 0, fmt.Errorf("is %s, must be a number of bytes, or a size with the unit kB, MB, GB, KiB, MiB or GiB, e.g. 100MiB", shown(text))
	}
	return int64(bytes), nil
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// shown returns a value for an error, unless it may contain a secret or fill the screen.
func shown(value any) string {
	text, isText := value.(string)
	switch {
	case isText && (len(text) > 40 || strings.Contains(text, "@")):
		return "text"
	case isText:
		return strconv.Quote(text)
	case len(keys(value)) > 0 || reflect.TypeOf(value).Kind() == reflect.Slice:
		return kindOf(value)
	}
	return fmt.Sprint(value)
}

func kindOf(value any) string {
	switch reflect.TypeOf(value).Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Map:
		return "a map"
	case reflect.Slice:
		return "a list"
	}
	return "a number"
}

// exampleOf returns a setting of a struct, with the value if it can be meant for it: the ID of a
// component.
func exampleOf(t reflect.Type, value any) string {
	for i := range t.NumField() {
		field := t.Field(i)
		key, options, _ := strings.Cut(field.Tag.Get("mapstructure"), ",")
		if strings.HasPrefix(options, "squash") {
			return exampleOf(field.Type, value)
		}
		if !field.IsExported() || key == "" {
			continue
		}
		if text, is := value.(string); is && reflect.PointerTo(field.Type).Implements(textUnmarshaler) {
			return key + ": " + text
		}
		return key + ": …"
	}
	return "…"
}

// keys returns the sorted keys of a map, or nil.
func keys(value any) []string {
	settings, _ := value.(map[string]any)
	return slices.Sorted(maps.Keys(settings))
}

// errorOf returns the mistakes as an error, given that of confmap: only values for texts that
// confmap rejected are mistakes. Without mistakes, it returns confmap's.
func (m *mistakes) errorOf(decoding error) error {
	rejected := rejectedTexts(decoding)
	for _, text := range m.texts {
		if slices.ContainsFunc(rejected, func(value any) bool { return reflect.DeepEqual(value, text.value) }) {
			m.found = append(m.found, text.error)
		}
	}
	if len(m.found) > 0 {
		return errors.Join(m.found...)
	}
	return decoding
}

// rejectedTexts returns the values that confmap could not read as texts.
func rejectedTexts(err error) (values []any) {
	switch err := err.(type) {
	case *mapstructure.UnconvertibleTypeError:
		if err.Expected.Kind() == reflect.String {
			values = append(values, err.Value)
		}
	case interface{ Unwrap() []error }:
		for _, each := range err.Unwrap() {
			values = append(values, rejectedTexts(each)...)
		}
	case interface{ Unwrap() error }:
		return rejectedTexts(err.Unwrap())
	}
	return values
}
