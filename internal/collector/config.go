// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"errors"
	"fmt"
	"reflect"

	"go.opentelemetry.io/collector/confmap"
)

// RenamedKey is a configuration key of an older version, and what to write instead.
type RenamedKey struct{ Old, New string }

// UnmarshalConfig reads conf into cfg, a pointer to a struct. Unknown keys are errors, also in
// structs that squash one with its own Unmarshal method, such as confighttp's ServerConfig or
// ClientConfig: confmap ignores them there. Its errors name the key, the value and the fix.
//
// Sizes in bytes can have a unit, e.g. 100MiB, also those of settings that are not ours.
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
	m := mistakes{root: reflect.TypeOf(cfg).Elem(), sizes: map[string]any{}}
	m.check(m.root, conf.ToStringMap(), "", false)
	if len(m.sizes) > 0 {
		if err := conf.Merge(confmap.NewFromStringMap(m.sizes)); err != nil {
			return err
		}
	}
	return m.errorOf(conf.Unmarshal(cfg))
}
