// SPDX-License-Identifier: Apache-2.0

// Package admission is the part of the receiver's configuration that lists the accepted projects.
package admission

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Project is an accepted project.
type Project struct {
	// ID is the number at the end of the DSN.
	ID uint64 `mapstructure:"id"`

	// PublicKeys are the keys in the DSNs of the project. List several to rotate keys without
	// downtime.
	PublicKeys []string `mapstructure:"public_keys"`

	// ResourceAttributes are added to the resources of all signals and override attributes from the
	// SDK. Values are strings, numbers, booleans, or lists of one of these.
	ResourceAttributes map[string]any `mapstructure:"resource_attributes"`

	// Disabled rejects the project, as Sentry does for disabled projects.
	Disabled bool `mapstructure:"disabled"`
}

// reservedPrefix is the prefix of attributes that describe data from SDKs. Other components rely on
// them.
const reservedPrefix = "sentry."

// Validate checks each project, and the uniqueness of IDs and keys. Its messages name the key and a
// valid value.
func Validate(projects []Project) error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if projects != nil && len(projects) == 0 {
		problem("projects: must not be empty; list the accepted projects, or remove the key to accept every DSN")
	}
	ids, keys := map[uint64]string{}, map[string]string{} // paths in the configuration, for errors about duplicates
	for i, p := range projects {
		path := fmt.Sprintf("projects[%d]", i)
		switch first, seen := ids[p.ID]; {
		case p.ID == 0:
			problem("%s.id: must not be 0 or missing; use the number at the end of the DSN, e.g. 42", path)
		case seen:
			problem("%s.id: is %d, the same as in %s; combine the keys in one entry", path, p.ID, first)
		default:
			ids[p.ID] = path
		}
		if len(p.PublicKeys) == 0 {
			problem("%s.public_keys: must not be empty; use the part of the DSN between // and @", path)
		}
		for j, key := range p.PublicKeys {
			path := fmt.Sprintf("%s.public_keys[%d]", path, j)
			switch first, seen := keys[key]; {
			case !sentry.ValidKey(key): // the error omits the key, which may be a secret
				problem("%s: must have 1 to %d letters, digits, '_' or '-'; use the part of the DSN between // and @", path, sentry.MaxKeyBytes)
			case seen:
				problem("%s: is the same as %s; keys must be unique", path, first)
			default:
				keys[key] = path
			}
		}
		for _, key := range slices.Sorted(maps.Keys(p.ResourceAttributes)) {
			if err := validateAttribute(key, p.ResourceAttributes[key]); err != nil {
				problem("%s.resource_attributes[%q]: %w", path, key, err)
			}
		}
	}
	return errors.Join(problems...)
}

func validateAttribute(key string, value any) error {
	switch {
	case key == "" || strings.ContainsFunc(key, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }):
		return errors.New("the name must not be empty or contain spaces, e.g. service.name")
	case strings.HasPrefix(key, reservedPrefix):
		return fmt.Errorf("the prefix %q is reserved for data of SDKs; use another name", reservedPrefix)
	}
	list, isList := value.([]any)
	if !isList {
		kind, err := kindOf(value)
		// In YAML, "service.version: 1.10" is a number and would become 1.1.
		if err == nil && kind != kindText && (strings.HasPrefix(key, "service.") || strings.HasPrefix(key, "deployment.")) {
			return fmt.Errorf("is of type %s, must be a string; put it in quotes", kind)
		}
		return err
	}
	if len(list) == 0 {
		return errEmptyAttribute
	}
	first, err := kindOf(list[0])
	if err != nil {
		return err
	}
	for _, element := range list[1:] {
		switch kind, err := kindOf(element); {
		case err != nil:
			return err
		case kind != first:
			return fmt.Errorf("contains values of type %s and %s, must be a list of one type", first, kind)
		}
	}
	return nil
}

// kind is the type of an attribute value, for error messages.
type kind string

const (
	kindText    kind = "string"
	kindBoolean kind = "boolean"
	kindInteger kind = "integer"
	kindFloat   kind = "number"
)

var errEmptyAttribute = errors.New("must not be empty; set a value or remove the name")

func kindOf(value any) (kind, error) {
	switch v := value.(type) {
	case nil:
		return "", errEmptyAttribute
	case string:
		if v == "" {
			return "", errEmptyAttribute
		}
		return kindText, nil
	case bool:
		return kindBoolean, nil
	case int, int64:
		return kindInteger, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", fmt.Errorf("is %v, must be finite", v)
		}
		return kindFloat, nil
	}
	return "", errors.New("must be a string, a number, a boolean, or a list of one of these; put other values in quotes")
}
