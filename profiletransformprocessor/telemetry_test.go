package profiletransformprocessor

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.yaml.in/yaml/v3"
)

// metadata is what we read of metadata.yaml.
type metadata struct {
	Type   string `yaml:"type"`
	Status struct {
		Class     string              `yaml:"class"`
		Stability map[string][]string `yaml:"stability"`
	} `yaml:"status"`
	Attributes map[string]any `yaml:"attributes"`
	Telemetry  struct {
		Metrics map[string]metricMetadata `yaml:"metrics"`
	} `yaml:"telemetry"`
}

type metricMetadata struct {
	Description string   `yaml:"description"`
	Unit        string   `yaml:"unit"`
	Attributes  []string `yaml:"attributes"`
	Sum         *struct {
		Monotonic bool `yaml:"monotonic"`
	} `yaml:"sum"`
}

func readMetadata(t *testing.T) (m metadata) {
	t.Helper()
	text, err := os.ReadFile("metadata.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &m))
	return m
}

func TestMetadataAgreesWithTheFactory(t *testing.T) {
	m, f := readMetadata(t), NewFactory()
	assert.Equal(t, f.Type().String(), m.Type)
	assert.Equal(t, "processor", m.Status.Class)
	for signal, level := range map[string]component.StabilityLevel{
		"profiles": f.ProfilesStability(),
		"traces":   f.TracesStability(),
		"logs":     f.LogsStability(),
		"metrics":  f.MetricsStability(),
	} {
		want := component.StabilityLevelUndefined
		for name, signals := range m.Status.Stability {
			if slices.Contains(signals, signal) {
				require.NoError(t, want.UnmarshalText([]byte(name)))
			}
		}
		assert.Equal(t, want, level, signal)
	}
}

// TestMetadataAgreesWithTheInstruments makes every instrument measure, and compares what is registered with what
// metadata.yaml and documentation.md say.
func TestMetadataAgreesWithTheInstruments(t *testing.T) {
	h := start(t, "transforms: [{drop_idle: {}}]")
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), idleAndBusy()))
	page, err := os.ReadFile("documentation.md")
	require.NoError(t, err)

	m := readMetadata(t)
	for name, want := range m.Telemetry.Metrics {
		got, err := h.metrics.GetMetric("otelcol_" + name)
		require.NoError(t, err)
		assert.Equal(t, want.Description, got.Description, name)
		assert.Equal(t, want.Unit, got.Unit, name)
		used := map[string]bool{}
		for _, set := range attributesOf(t, got, want) {
			for _, attribute := range set {
				used[attribute] = true
				assert.Contains(t, m.Attributes, attribute)
			}
		}
		for _, attribute := range want.Attributes {
			assert.True(t, used[attribute], "%s of %s", attribute, name)
		}
		assert.Len(t, used, len(want.Attributes), name)

		assert.Contains(t, string(page), "### otelcol_"+name+"\n")
		assert.Contains(t, string(page), want.Description)
	}

	var collected metricdata.ResourceMetrics
	require.NoError(t, h.metrics.Reader.Collect(t.Context(), &collected))
	for _, scope := range collected.ScopeMetrics {
		if scope.Scope.Name != scopeName {
			continue
		}
		for _, metric := range scope.Metrics {
			assert.Contains(t, m.Telemetry.Metrics, strings.TrimPrefix(metric.Name, "otelcol_"))
		}
		assert.Len(t, scope.Metrics, len(m.Telemetry.Metrics))
	}
}

// attributesOf lists the keys of each point of a metric, which must be of the kind that metadata.yaml says.
func attributesOf(t *testing.T, got metricdata.Metrics, want metricMetadata) (keys [][]string) {
	t.Helper()
	sum := got.Data.(metricdata.Sum[int64])
	assert.Equal(t, want.Sum.Monotonic, sum.IsMonotonic, got.Name)
	for _, point := range sum.DataPoints {
		var all []string
		for _, attribute := range point.Attributes.ToSlice() {
			all = append(all, string(attribute.Key))
		}
		keys = append(keys, all)
	}
	return keys
}
