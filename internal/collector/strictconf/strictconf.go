// SPDX-License-Identifier: Apache-2.0

// Package strictconf reads the configuration of components that squash a struct of confighttp into their own keys, and takes
// nothing for what it is not: keys that do not exist, and durations without a unit, are errors.
package strictconf

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.opentelemetry.io/collector/confmap"
)

// Unmarshal reads conf into cfg, a pointer to a struct, and fails for keys that cfg has no field for, and for numbers where it has
// a duration: confmap reads 30 as 30 ns.
//
// It is for components whose Config squashes a struct with an Unmarshal of its own, as confighttp's ServerConfig and
// ClientConfig have: beside one of those confmap lets every key pass, and a misspelt one would be ignored in silence. So the
// keys are read a second time, into a copy of the struct in which nothing has methods.
func Unmarshal(conf *confmap.Conf, cfg any) error {
	if err := conf.Unmarshal(cfg); err != nil {
		return err
	}
	named := reflect.TypeOf(cfg).Elem()
	plain := withoutMethods(named)
	if err := conf.Unmarshal(reflect.New(plain).Interface()); err != nil {
		// A struct without a name is told by all of its fields, on a screen of text.
		return errors.New(strings.ReplaceAll(err.Error(), plain.String(), named.String()))
	}
	return errors.Join(withoutUnit(named, conf.ToStringMap(), "")...)
}

var unmarshaler = reflect.TypeFor[confmap.Unmarshaler]()

// withoutMethods is the struct without its methods, and without those of the structs squashed into it.
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

// withoutUnit finds the durations of a struct that are numbers in what was configured for it, value. It looks into structs and lists
// of them, not into what reads itself, such as configoptional's.
func withoutUnit(t reflect.Type, value any, path string) (problems []error) {
	switch keys, isMap := value.(map[string]any); {
	case t == duration:
		if kind := reflect.ValueOf(value); kind.IsValid() && !kind.IsZero() && (kind.CanInt() || kind.CanUint() || kind.CanFloat()) {
			problems = append(problems, fmt.Errorf("%s: is %v, a number without a unit: write %[2]vs for seconds", path, value))
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
