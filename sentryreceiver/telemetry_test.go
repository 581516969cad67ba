package sentryreceiver

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pprofile"
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
		Metrics map[string]struct {
			Description string   `yaml:"description"`
			Unit        string   `yaml:"unit"`
			Attributes  []string `yaml:"attributes"`
			Sum         struct {
				Monotonic bool `yaml:"monotonic"`
			} `yaml:"sum"`
		} `yaml:"metrics"`
	} `yaml:"telemetry"`
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
	assert.Equal(t, "receiver", m.Status.Class)
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

// TestMetadataAgreesWithTheInstruments makes every counter count, and compares what is registered with what metadata.yaml
// and documentation.md say.
func TestMetadataAgreesWithTheInstruments(t *testing.T) {
	h := startSignals(t, nil)
	h.post("")
	h.post(envelope(item("profile_chunk", "", "{"), item("profile_chunk", "", oddChunk)))
	h.post(envelope(item("log", `,"item_count":3`, `{"items":[{"body":"x","level":7},{}]}`)))
	page, err := os.ReadFile("documentation.md")
	require.NoError(t, err)

	m := readMetadata(t)
	for name, want := range m.Telemetry.Metrics {
		got, err := h.metrics.GetMetric("otelcol_" + name)
		require.NoError(t, err)
		assert.Equal(t, want.Description, got.Description, name)
		assert.Equal(t, want.Unit, got.Unit, name)
		sum := got.Data.(metricdata.Sum[int64])
		assert.Equal(t, want.Sum.Monotonic, sum.IsMonotonic, name)
		used := map[string]bool{}
		for _, point := range sum.DataPoints {
			for _, attribute := range point.Attributes.ToSlice() {
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

// The metrics that all receivers have, and their spans.
func TestObsReport(t *testing.T) {
	h := start(t, nil)
	h.post(envelope(chunkItem, profileItem))
	h.sink.respond = func(pprofile.Profiles) error { return errors.New("full") }
	h.post(envelope(chunkItem))

	const attributes = "receiver=sentry transport=http"
	assert.Equal(t, map[string]int64{attributes: 2}, h.counts("otelcol_receiver_accepted_profile_samples"), "one per identity")
	assert.Equal(t, map[string]int64{attributes: 1}, h.counts("otelcol_receiver_refused_profile_samples"))

	received := 0
	for _, span := range h.metrics.SpanRecorder.Ended() {
		if span.Name() == "receiver/sentry/ProfilesReceived" {
			received++
		}
	}
	assert.Equal(t, 3, received)
}

// TestLogsAreBounded: a client that is wrong is wrong in every request.
func TestLogsAreBounded(t *testing.T) {
	h := start(t, nil)
	secret := item("profile_chunk", "", `{"version":"2","password":"hunter2",`)
	for range 50 {
		h.post("")
		h.post(envelope(secret))
	}
	assert.Equal(t, int64(50), h.rejected()["reason=envelope_empty"])
	assert.LessOrEqual(t, h.logs.FilterMessage("Request refused").Len(), logsPerMinute)
	assert.LessOrEqual(t, h.logs.FilterMessage("Item discarded").Len(), logsPerMinute)
	require.NotZero(t, h.logs.FilterMessage("Item discarded").Len())
	for _, line := range h.logs.All() {
		for _, value := range line.ContextMap() {
			assert.NotContains(t, fmt.Sprint(value), "hunter2", "a payload in the log")
			assert.NotContains(t, fmt.Sprint(value), testKey, "a key in the log")
		}
	}
}
