// Package strictconf reads the configuration of components that squash a struct of confighttp into their own keys.
package strictconf

import (
	"errors"
	"reflect"
	"strings"

	"go.opentelemetry.io/collector/confmap"
)

// Unmarshal reads conf into cfg, a pointer to a struct, and fails for keys that cfg has no field for.
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
	return nil
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
