// SPDX-License-Identifier: Apache-2.0

package metadatatest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.yaml.in/yaml/v3"
)

// Load reads YAML over the defaults and validates the result, as the collector does.
func Load[C any](t *testing.T, defaults C, text string) (C, error) {
	t.Helper()
	var raw map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &raw))
	if err := confmap.NewFromStringMap(raw).Unmarshal(defaults); err != nil {
		return defaults, err
	}
	return defaults, confmap.Validate(defaults)
}

// ErrorHas asserts that err has each word of facts: keys, values, numbers. Its wording is asserted
// in internal/testkit/messages only.
func ErrorHas(t *testing.T, err error, facts, config string) {
	t.Helper()
	require.Error(t, err, config)
	for fact := range strings.FieldsSeq(facts) {
		assert.ErrorContains(t, err, fact, config)
	}
}
