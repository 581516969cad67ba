// SPDX-License-Identifier: Apache-2.0

// Package metadatatest reads configurations, and compares metadata.yaml, documentation.md and
// README.md of a component with its code, in tests.
package metadatatest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.yaml.in/yaml/v3"
)

// metadata is the part of metadata.yaml that tests use.
type metadata struct {
	Type        string `yaml:"type"`
	DisplayName string `yaml:"display_name"`
	Status      struct {
		Class     string              `yaml:"class"`
		Stability map[string][]string `yaml:"stability"`
	} `yaml:"status"`
	Attributes map[string]any `yaml:"attributes"`
	Telemetry  struct {
		Metrics map[string]metric `yaml:"metrics"`
	} `yaml:"telemetry"`
}

// metric has one of sum, gauge and histogram.
type metric struct {
	Description string    `yaml:"description"`
	Unit        string    `yaml:"unit"`
	Attributes  []string  `yaml:"attributes"`
	Sum         *sum      `yaml:"sum"`
	Gauge       *struct{} `yaml:"gauge"`
	Histogram   *struct{} `yaml:"histogram"`
}

type sum struct {
	Monotonic bool `yaml:"monotonic"`
}

func read(t *testing.T, directory string) (m metadata) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory, "metadata.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &m))
	return m
}

// MetricNames are those that a component's metadata.yaml lists, as they are scraped.
func MetricNames(t *testing.T, directory string) (names []string) {
	t.Helper()
	for name := range read(t, directory).Telemetry.Metrics {
		names = append(names, "otelcol_"+name)
	}
	return names
}

// factory is the common interface of the factories of components.
type factory interface {
	TracesStability() component.StabilityLevel
	MetricsStability() component.StabilityLevel
	LogsStability() component.StabilityLevel
	ProfilesStability() component.StabilityLevel
}

// CheckFactory compares metadata.yaml with a factory; class is "receiver", "processor" or
// "exporter".
func CheckFactory(t *testing.T, class string, of component.Factory) {
	t.Helper()
	m := read(t, ".")
	levels := of.(factory)
	assert.Equal(t, of.Type().String(), m.Type)
	assert.Equal(t, class, m.Status.Class)
	for signal, level := range map[string]component.StabilityLevel{
		"profiles": levels.ProfilesStability(),
		"traces":   levels.TracesStability(),
		"logs":     levels.LogsStability(),
		"metrics":  levels.MetricsStability(),
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

// CheckInstruments compares metadata.yaml and documentation.md with the instruments that the
// component has registered under scope. Every instrument must have data points with all of its
// attributes.
func CheckInstruments(t *testing.T, telemetry *componenttest.Telemetry, scope string) {
	t.Helper()
	page, err := os.ReadFile("documentation.md")
	require.NoError(t, err)
	m := read(t, ".")
	for name, want := range m.Telemetry.Metrics {
		got, err := telemetry.GetMetric("otelcol_" + name)
		require.NoError(t, err)
		assert.Equal(t, want.Description, got.Description, name)
		assert.Equal(t, want.Unit, got.Unit, name)

		used := map[string]bool{}
		for _, set := range measured(t, name, want, got.Data) {
			for _, attribute := range set.ToSlice() {
				used[string(attribute.Key)] = true
				assert.Contains(t, m.Attributes, string(attribute.Key))
			}
		}
		for _, attribute := range want.Attributes {
			assert.True(t, used[attribute], "%s of %s", attribute, name)
		}
		assert.Len(t, used, len(want.Attributes), name)

		assert.Contains(t, string(page), "### otelcol_"+name+"\n")
		assert.Contains(t, string(page), want.Description)
	}
	noOthers(t, telemetry, scope, m)
}

// measured compares the kind of a metric and returns the attributes of its data points.
func measured(t *testing.T, name string, want metric, data metricdata.Aggregation) (sets []attribute.Set) {
	t.Helper()
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		require.NotNil(t, want.Sum, name)
		assert.Equal(t, want.Sum.Monotonic, data.IsMonotonic, name)
		for _, point := range data.DataPoints {
			sets = append(sets, point.Attributes)
		}
	case metricdata.Gauge[int64]:
		require.NotNil(t, want.Gauge, name)
		for _, point := range data.DataPoints {
			sets = append(sets, point.Attributes)
		}
	case metricdata.Histogram[float64]:
		require.NotNil(t, want.Histogram, name)
		for _, point := range data.DataPoints {
			sets = append(sets, point.Attributes)
		}
	case metricdata.Histogram[int64]:
		require.NotNil(t, want.Histogram, name)
		for _, point := range data.DataPoints {
			sets = append(sets, point.Attributes)
		}
	default:
		t.Errorf("%s is a %T", name, data)
	}
	return sets
}

// noOthers finds instruments that metadata.yaml does not list.
func noOthers(t *testing.T, telemetry *componenttest.Telemetry, scope string, m metadata) {
	t.Helper()
	var collected metricdata.ResourceMetrics
	require.NoError(t, telemetry.Reader.Collect(t.Context(), &collected))
	for _, metrics := range collected.ScopeMetrics {
		if metrics.Scope.Name != scope {
			continue
		}
		for _, metric := range metrics.Metrics {
			assert.Contains(t, m.Telemetry.Metrics, strings.TrimPrefix(metric.Name, "otelcol_"))
		}
	}
}

var environment = regexp.MustCompile(`\$\{env:(\w+)\}`)

// CheckREADME loads the component's sections of every YAML block on its page, which is README.md;
// kind is "receivers", "processors" or "exporters". Blocks without such a section are other things.
// ${env:NAME} is looked up.
func CheckREADME(t *testing.T, kind string, factory component.Factory) {
	t.Helper()
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	sections := 0
	for _, block := range strings.Split(string(page), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		text = environment.ReplaceAllStringFunc(text, func(name string) string { return os.Getenv(environment.FindStringSubmatch(name)[1]) })
		var collector map[string]yaml.Node
		require.NoError(t, yaml.Unmarshal([]byte(text), &collector), text)
		var components map[string]map[string]any
		if node, has := collector[kind]; has {
			require.NoError(t, node.Decode(&components))
		}
		for id, keys := range components {
			if name, _, _ := strings.Cut(id, "/"); name != factory.Type().String() {
				continue
			}
			sections++
			cfg := factory.CreateDefaultConfig()
			if assert.NoError(t, confmap.NewFromStringMap(keys).Unmarshal(cfg), text) {
				assert.NoError(t, confmap.Validate(cfg), text)
			}
		}
	}
	assert.NotZero(t, sections, "no block of README.md configures the component")
}
