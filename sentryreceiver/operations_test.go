package sentryreceiver

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestOperationsPage: docs/operations.md explains every metric of metadata.yaml, and no other.
func TestOperationsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	explained := map[string]bool{}
	for _, name := range regexp.MustCompile(`otelcol_receiver_sentry_\w+`).FindAllString(string(page), -1) {
		explained[strings.TrimPrefix(name, "otelcol_")] = true
	}
	text, err := os.ReadFile("metadata.yaml")
	require.NoError(t, err)
	var metadata struct {
		Telemetry struct {
			Metrics map[string]any `yaml:"metrics"`
		} `yaml:"telemetry"`
	}
	require.NoError(t, yaml.Unmarshal(text, &metadata))
	assert.ElementsMatch(t, slices.Collect(maps.Keys(metadata.Telemetry.Metrics)), slices.Collect(maps.Keys(explained)))
}
