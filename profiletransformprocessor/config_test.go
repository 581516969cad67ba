// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"math"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
)

// load reads a configuration over the defaults.
func load(t *testing.T, text string) (*Config, error) {
	t.Helper()
	return metadatatest.Load(t, createDefaultConfig().(*Config), text)
}

func TestDefaults(t *testing.T) {
	cfg, err := load(t, "")
	require.NoError(t, err)
	require.NoError(t, componenttest.CheckConfigStruct(cfg))
	assert.True(t, cfg.Link.Enabled)
	assert.Equal(t, spanlink.Sentry, cfg.Link.keys())
	assert.Equal(t, 30*time.Second, cfg.Link.Wait)
	assert.Equal(t, spanlink.Skip, cfg.Link.Ambiguous)
	assert.Equal(t, 10_000, cfg.Link.MaxHeldProfiles)
	assert.Equal(t, int64(128<<20), cfg.Link.MaxHeldBytes)
	assert.Equal(t, 5*time.Minute, cfg.Link.KeepSpans)
	assert.Equal(t, int64(150<<20), cfg.Link.MaxIndexBytes, "without GOMEMLIMIT")
	assert.Equal(t, spanlink.MaxSpans, cfg.Link.MaxSpans)
	assert.Nil(t, cfg.Storage)
	assert.Equal(t, 5*time.Minute, cfg.RetryOnFailure.MaxElapsedTime)
	assert.Equal(t, BatchConfig{MaxBytes: 3 << 20}, cfg.Batch)
}

// The index grows with the memory that the collector may use.
func TestIndexFitsMemory(t *testing.T) {
	for limit, want := range map[int64]int64{256 << 20: 150 << 20, 8 << 30: 1 << 30, math.MaxInt64: 150 << 20} {
		before := debug.SetMemoryLimit(limit)
		assert.Equal(t, want, createDefaultConfig().(*Config).Link.MaxIndexBytes, limit)
		debug.SetMemoryLimit(before)
	}
}

func TestEveryKey(t *testing.T) {
	cfg, err := load(t, `
storage: file_storage/held
retry_on_failure: {max_elapsed_time: 7m}
batch: {timeout: 55s, max_bytes: 1000, metadata_keys: [x-scope-orgid]}
link:
  enabled: false
  preset: otel
  keys:
    tenant: [service.namespace]
    session: [[service.name, process.pid], [process.pid]]
    thread: thread.name
    segment: local.root
  wait: 5s
  ambiguous: innermost
  max_held_profiles: 1
  max_held_bytes: 2
  keep_spans: 6s
  max_index_bytes: 4
  max_spans: 3
`)
	require.NoError(t, err)
	assert.Equal(t, component.MustNewIDWithName("file_storage", "held"), *cfg.Storage)
	assert.False(t, cfg.Link.Enabled)
	assert.Equal(t, spanlink.Keys{
		Tenant:  []string{"service.namespace"},
		Session: [][]string{{"service.name", "process.pid"}, {"process.pid"}},
		Thread:  "thread.name",
		Segment: "local.root",
	}, cfg.Link.keys())
	assert.Equal(t, 5*time.Second, cfg.Link.Wait)
	assert.Equal(t, spanlink.Innermost, cfg.Link.Ambiguous)
	assert.Equal(t, 1, cfg.Link.MaxHeldProfiles)
	assert.Equal(t, int64(2), cfg.Link.MaxHeldBytes)
	assert.Equal(t, 6*time.Second, cfg.Link.KeepSpans)
	assert.Equal(t, int64(4), cfg.Link.MaxIndexBytes)
	assert.Equal(t, 3, cfg.Link.MaxSpans)
	assert.Equal(t, 7*time.Minute, cfg.RetryOnFailure.MaxElapsedTime)
	assert.Equal(t, BatchConfig{Timeout: 55 * time.Second, MaxBytes: 1000, MetadataKeys: []string{"x-scope-orgid"}}, cfg.Batch)
}

// A key replaces its own part of the preset only.
func TestKeysOverPreset(t *testing.T) {
	cfg, err := load(t, "link: {preset: otel, keys: {thread: thread.name}}")
	require.NoError(t, err)
	want := spanlink.OTel
	want.Thread = "thread.name"
	assert.Equal(t, want, cfg.Link.keys())
}

func TestUnknownKeysFail(t *testing.T) {
	for text, key := range map[string]string{"linc: {wait: 1s}": "linc", "link: {wiat: 1s}": "wiat", "link: {keys: {threads: x}}": "threads", "wait: 1s": "wait"} {
		_, err := load(t, text)
		assert.ErrorContains(t, err, key+": is not a known key", text)
	}
}

func TestValidate(t *testing.T) {
	for text, want := range map[string]string{
		`link: {preset: Sentry}`:                    `link::preset: "Sentry" "sentry" "otel"`,
		`link: {ambiguous: first}`:                  `link::ambiguous: "first" "skip" "innermost"`,
		`link: {wait: -1s}`:                         `link::wait: -1s 0s 1ms 1h0m0s 30s`,
		`link: {wait: 2h, keep_spans: 3h}`:          `link::wait: 2h0m0s 0s 1ms 1h0m0s`,
		`link: {keep_spans: 30s}`:                   `link::keep_spans: 30s link::wait longer`,
		`link: {wait: 30}`:                          `link::wait: 30 30s`,
		`link: {wait: 1s, keep_spans: 300ms}`:       `link::keep_spans: 300ms link::wait 1s 5m0s longer`,
		`retry_on_failure: {max_elapsed_time: 300}`: `retry_on_failure::max_elapsed_time: 300 300s`,
		`batch: {timeout: 10}`:                      `batch::timeout: 10 10s`,
		`batch: {max_bytes: 0}`:                     `batch::max_bytes: 3145728`,
		`link: {max_spans: 100000000}`:              `link::max_spans: 100000000 50000000`,
		`link: {max_spans: 0}`:                      `link::max_spans: 50000000`,
		`link: {max_index_bytes: 0}`:                `link::max_index_bytes: 157286400`,
		`link: {max_held_profiles: 0}`:              `link::max_held_profiles: 10000`,
		`link: {max_held_bytes: -5}`:                `link::max_held_bytes: -5 134217728`,
		`link: {keys: {session: []}}`:               `link::keys: session: least`,
		`link: {keys: {session: [[]]}}`:             `link::keys: session[0]: 0 1 3`,
		`link: {keys: {session: [[a, b, c, d]]}}`:   `link::keys: session[0]: 4 1 3`,
		`link: {keys: {tenant: [""]}}`:              `link::keys: empty names`,
		`link: {keys: {tenant: [a,b,c,d,e,f,g,h]}}`: `link::keys: 13 11 total`,
	} {
		_, err := load(t, text)
		metadatatest.ErrorHas(t, err, want, text)
	}
}

func TestREADMEConfigs(t *testing.T) { metadatatest.CheckREADME(t, "processors", NewFactory()) }
