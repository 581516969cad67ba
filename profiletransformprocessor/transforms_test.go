// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/transform"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
)

// Every transform with all of its settings, and what it is without any.
func TestTransformsAreRead(t *testing.T) {
	pattern, inApp := regexp.MustCompile, false
	for text, want := range map[string]transform.Step{
		"aggregate: {}":                          &transform.Aggregate{Unit: "nanoseconds"},
		"aggregate:":                             &transform.Aggregate{Unit: "nanoseconds"},
		"aggregate: {max_gap: 50ms}":             &transform.Aggregate{Unit: "nanoseconds", MaxGap: 50 * time.Millisecond},
		"aggregate: {unit: count}":               &transform.Aggregate{Unit: "count"},
		"active_thread_only: {}":                 &transform.ActiveThreadOnly{},
		"resource_to_samples: {attributes: [a]}": &transform.ResourceToSamples{Attributes: []string{"a"}},
		"split: {max_bytes: 10000}":              &transform.Split{MaxBytes: 10000},
		"split: {max_samples: 5}":                &transform.Split{MaxSamples: 5},
		"split: {max_duration: 10s}":             &transform.Split{MaxDuration: 10 * time.Second},
		"drop_idle: {}":                          &transform.DropIdle{Functions: []string{"(idle)"}},
		"drop_idle: {functions: [park, wait]}":   &transform.DropIdle{Functions: []string{"park", "wait"}},
		"threads: {keep: [main], drop: [^GC]}":   &transform.Threads{Keep: []*regexp.Regexp{pattern("main")}, Drop: []*regexp.Regexp{pattern("^GC")}},
		"scrub: {preset: home}":                  &transform.Scrub{Preset: "home"},
		"scrub: {rules: [{pattern: a}]}":         &transform.Scrub{Rules: []transform.ScrubRule{{Pattern: pattern("a")}}},
		"frames: {action: keep, match: [{module: m, function: f, file: p, in_app: false}]}": &transform.Frames{
			Action: "keep", Name: "(other)", Match: []transform.FrameMatch{{Module: pattern("m"), Function: pattern("f"), File: pattern("p"), InApp: &inApp}}},
		"drop_attributes: {samples: [a], frames: [b], profiles: [c], resources: [d]}": &transform.DropAttributes{
			Samples: []string{"a"}, Frames: []string{"b"}, Profiles: []string{"c"}, Resources: []string{"d"}},
	} {
		cfg, err := load(t, "transforms:\n  - "+text)
		require.NoError(t, err, text)
		assert.Equal(t, []transform.Step{want}, transformsConfig(cfg.Transforms).steps(), text)
	}
}

func TestPresetsAreSpelledOut(t *testing.T) {
	cfg, err := load(t, "transforms: [{scrub: {preset: home}}, {preset: pyroscope}]")
	require.NoError(t, err)
	pyroscope, _ := transform.Preset("pyroscope")
	assert.Equal(t, append([]transform.Step{&transform.Scrub{Preset: "home"}}, pyroscope...), transformsConfig(cfg.Transforms).steps())
}

// The pages name every transform, every preset and every reason.
func TestPagesAreComplete(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, name := range append(transform.Names(), transform.PresetNames()...) {
		assert.Contains(t, string(readme), "\n| `"+name+"` |")
	}
	documentation, err := os.ReadFile("documentation.md")
	require.NoError(t, err)
	metadata, err := os.ReadFile("metadata.yaml")
	require.NoError(t, err)
	for _, reason := range transform.Reasons {
		assert.Contains(t, string(documentation), "`"+string(reason)+"`")
		assert.Contains(t, string(metadata), string(reason))
	}
}

// What print-config shows is what was written.
func TestTransformsAreShown(t *testing.T) {
	cfg, err := load(t, "transforms: [{split: {max_samples: 5}}]")
	require.NoError(t, err)
	shown := confmap.New()
	require.NoError(t, shown.Marshal(cfg))
	assert.Equal(t, []any{map[string]any{"split": map[string]any{"max_samples": 5}}}, shown.Get("transforms"))
}

// Whoever mistypes reads where, what, and what to write instead.
func TestTransformErrors(t *testing.T) {
	for text, want := range map[string][]string{
		"[{agregate: {}}]":                       {"transforms[0]", `"agregate"`, "active_thread_only, aggregate,"},
		"[{aggregate: {unit: seconds}}]":         {"transforms::0: aggregate", `unit: is "seconds"`, "count", "nanoseconds"},
		"[{drop_idle: {}, split: {}}]":           {"transforms[0]", "2 (drop_idle, split)"},
		"[{}]":                                   {"transforms[0]", " 0 "},
		"[{split: 5}]":                           {"transforms[0]", "split: ", "map"},
		"[{preset: parca}]":                      {"transforms[0]", `preset: "parca"`, "kafka, otlp_grpc, pyroscope"},
		"[{threads: {drop: ['(']}}]":             {"transforms[0]", "drop[0]", "`(`"},
		"[{threads: {drops: [a]}}]":              {"transforms[0]", "drops: is not a known key"},
		"[{split: {max_bytes: 5}}]":              {"transforms::0", "split: max_bytes: is 5", "10000"},
		"[{preset: kafka}, {drop_idle: {}}]":     {"transforms: split: "},
		"[{drop_idle: {}}, {preset: pyroscope}]": {"transforms: aggregate: ", "drop_idle"},
		"[{drop_idle: {}}, drop_idle]":           {"transforms[1]: ", "`- drop_idle: {}`"},
		"[pyroscope]":                            {"transforms[0]: ", "`- preset: pyroscope`"},
		"{preset: pyroscope}":                    {"transforms: is a map"},
		"[{split: {max_duration: 10ns}}]":        {"split: max_duration: is 10ns", "1ms"},
		"[{aggregate: {max_gap: 50ns}}]":         {"aggregate: max_gap: is 50ns", "1µs"},
	} {
		_, err := load(t, "transforms: "+text)
		for _, part := range want {
			if assert.ErrorContains(t, err, part, text) {
				assert.NotContains(t, err.Error(), "transforms::transforms", text)
			}
		}
	}
}

func TestTransforms(t *testing.T) {
	h := start(t, "transforms: [{drop_idle: {}}]")
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), idleAndBusy()))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), oneProfile()), "nothing is left of it")
	all := h.sink.AllProfiles()
	require.Len(t, all, 1)
	require.Equal(t, 1, all[0].SampleCount())
	dictionarytest.MustBeValid(t, all[0])

	dropped, err := h.metrics.GetMetric("otelcol_processor_profile_transform_dropped_observations")
	require.NoError(t, err)
	points := dropped.Data.(metricdata.Sum[int64]).DataPoints
	require.Len(t, points, 1)
	assert.Equal(t, int64(2), points[0].Value)
	assert.Equal(t, attribute.NewSet(attribute.String("reason", "idle")), points[0].Attributes)
}
