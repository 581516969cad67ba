// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

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

// ProjectConfig is a project that may send.
type ProjectConfig struct {
	// ID is the number at the end of the DSN.
	ID uint64 `mapstructure:"id"`

	// PublicKeys are the key parts of DSNs. Several keys allow a rotation without downtime.
	PublicKeys []string `mapstructure:"public_keys"`

	// ResourceAttributes stand on the resources of all signals, and win over what the SDK says. Values are text, numbers,
	// true and false, and lists of one of these.
	ResourceAttributes map[string]any `mapstructure:"resource_attributes"`

	// Disabled turns the project away, as Sentry does with one that was disabled there.
	Disabled bool `mapstructure:"disabled"`
}

// reservedPrefix is that of attributes which say what the SDK sent. What comes behind the receiver relies on them.
const reservedPrefix = "sentry."

// validateProjects checks each project by itself and all together.
func validateProjects(projects []ProjectConfig) error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if projects != nil && len(projects) == 0 {
		problem("projects: must not be empty, list those that may send, or leave the key out to accept every DSN")
	}
	ids, keys := map[uint64]string{}, map[string]string{} // where they were seen
	for i, p := range projects {
		path := fmt.Sprintf("projects[%d]", i)
		switch first, seen := ids[p.ID]; {
		case p.ID == 0:
			problem("%s.id: must not be 0 or left out, give the number at the end of the DSN, e.g. 42", path)
		case seen:
			problem("%s.id: is %d, as in %s, put the keys of both into one entry", path, p.ID, first)
		default:
			ids[p.ID] = path
		}
		if len(p.PublicKeys) == 0 {
			problem("%s.public_keys: must not be empty, give the part of the DSN between // and @", path)
		}
		for j, key := range p.PublicKeys {
			path := fmt.Sprintf("%s.public_keys[%d]", path, j)
			switch first, seen := keys[key]; {
			case !sentry.ValidKey(key): // and may be a secret: it is not repeated
				problem("%s: must have 1 to %d letters, digits, '_' or '-', as the part of the DSN between // and @", path, sentry.MaxKeyBytes)
			case seen:
				problem("%s: is the key of %s, must be in one place only", path, first)
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
		return errors.New("the name must not be empty or have blanks, give one such as service.name")
	case strings.HasPrefix(key, reservedPrefix):
		return fmt.Errorf("names in %q say what the SDK sent, choose another", reservedPrefix)
	}
	list, isList := value.([]any)
	if !isList {
		kind, err := kindOf(value)
		// "service.version: 1.10" is a number in YAML, and would come out as 1.1.
		if err == nil && kind != kindText && (strings.HasPrefix(key, "service.") || strings.HasPrefix(key, "deployment.")) {
			return fmt.Errorf("is a %s, must be text: put it in quotes", kind)
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
			return fmt.Errorf("has a %s beside a %s, must be a list of one kind", kind, first)
		}
	}
	return nil
}

// kind is that of an attribute value, in words.
type kind string

const (
	kindText    kind = "text"
	kindBoolean kind = "boolean"
	kindInteger kind = "whole number"
	kindFloat   kind = "number"
)

var errEmptyAttribute = errors.New("must not be empty, give a value or leave the name out")

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
	return "", errors.New("must be text, a number, true or false, or a list of one of these, put anything else in quotes")
}
