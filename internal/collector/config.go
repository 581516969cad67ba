// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.opentelemetry.io/collector/confmap"
)

// RenamedKey is a configuration key of an older version, and what to write instead.
type RenamedKey struct{ Old, New string }

// UnmarshalConfig reads conf into cfg, a pointer to a struct. Unknown keys are errors, and so are
// numbers for durations, because confmap reads 30 as 30 ns. The error of a renamed key names the
// new one.
//
// Use it for a Config that squashes a struct with its own Unmarshal method, such as confighttp's
// ServerConfig or ClientConfig: confmap then ignores unknown keys. UnmarshalConfig therefore reads
// the keys a second time, into a copy of the struct without methods.
func UnmarshalConfig(conf *confmap.Conf, cfg any, renamed ...RenamedKey) error {
	var problems []error
	for _, key := range renamed {
		if conf.IsSet(key.Old) {
			problems = append(problems, fmt.Errorf("%s: was renamed; use %s instead", key.Old, key.New))
		}
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if err := conf.Unmarshal(cfg); err != nil {
		return err
	}
	named := reflect.TypeOf(cfg).Elem()
	plain := withoutMethods(named)
	if err := conf.Unmarshal(reflect.New(plain).Interface()); err != nil {
		// Errors spell out an unnamed struct type with all its fields, which fills a screen.
		return errors.New(strings.ReplaceAll(err.Error(), plain.String(), named.String()))
	}
	return errors.Join(withoutUnit(named, conf.ToStringMap(), "")...)
}

var unmarshaler = reflect.TypeFor[confmap.Unmarshaler]()

// withoutMethods returns a struct type without its methods, and without those of the structs
// squashed into it.
func withoutMethods(t reflect.Type) reflect.Type {
	var fields []reflect.StructField
	for i := range t.NumField() {
		field := t.Field(i)
		if !field.IsExported() {
			continue // confmap does not fill it
		}
		if squashed(field) && reflect.PointerTo(field.Type).Implements(unmarshaler) {
			field.Type = withoutMethods(field.Type)
		}
		field.Anonymous = false // an embedded field would bring its methods along
		fields = append(fields, field)
	}
	return reflect.StructOf(fields)
}

func squashed(field reflect.StructField) bool { return field.Tag.Get("mapstructure") == ",squash" }

var duration = reflect.TypeFor[time.Duration]()

// withoutUnit returns an error for each duration in the struct type t for which value, the
// configuration of the struct, has a plain number. It looks into structs and lists of structs, but
// not into types that unmarshal themselves, such as configoptional's.
func withoutUnit(t reflect.Type, value any, path string) (problems []error) {
	switch keys, isMap := value.(map[string]any); {
	case t == duration:
		if kind := reflect.ValueOf(value); kind.IsValid() && !kind.IsZero() && (kind.CanInt() || kind.CanUint() || kind.CanFloat()) {
			problems = append(problems, fmt.Errorf("%s: is %v, a number without a unit; use %[2]vs for seconds", path, value))
		}
	case t.Kind() == reflect.Pointer:
		return withoutUnit(t.Elem(), value, path)
	case t.Kind() == reflect.Slice:
		list, _ := value.([]any)
		for i, element := range list {
			problems = append(problems, withoutUnit(t.Elem(), element, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case t.Kind() == reflect.Struct && isMap:
		for i := range t.NumField() {
			field := t.Field(i)
			key, _, _ := strings.Cut(field.Tag.Get("mapstructure"), ",")
			switch {
			case squashed(field):
				problems = append(problems, withoutUnit(field.Type, value, path)...)
			case field.IsExported() && keys[key] != nil:
				problems = append(problems, withoutUnit(field.Type, keys[key], strings.TrimPrefix(path+"::"+key, "::"))...)
			}
		}
	}
	return problems
}
