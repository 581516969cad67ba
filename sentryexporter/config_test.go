// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configcompression"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/featuregate"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/toissues"
)

const testDSN = "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.example/42"

// load reads a configuration over the defaults.
func load(t *testing.T, text string) (*Config, error) {
	t.Helper()
	return metadatatest.Load(t, createDefaultConfig().(*Config), text)
}

func TestDefaults(t *testing.T) {
	cfg, err := load(t, "dsn: "+testDSN)
	require.NoError(t, err)
	require.NoError(t, componenttest.CheckConfigStruct(cfg))
	assert.Equal(t, "transactions", cfg.SpansAs)
	assert.Equal(t, []string{"service.namespace", "service.name", "service.instance.id"}, cfg.ProfilerIDAttributes)
	assert.False(t, cfg.ReportLosses)
	assert.Equal(t, 10, cfg.MaxAttempts)
	assert.Empty(t, cfg.HTTP.Compression, "see defaultCompression")
	assert.Equal(t, 30*time.Second, cfg.HTTP.Timeout)
	assert.True(t, cfg.Retry.Enabled)
	assert.Zero(t, cfg.Retry.MaxElapsedTime, "for as long as it takes")
	queue := cfg.Queue.Get()
	require.NotNil(t, queue)
	assert.Equal(t, exporterhelper.RequestSizerTypeBytes, queue.Sizer)
	assert.Equal(t, int64(128<<20), queue.QueueSize)
	assert.False(t, queue.Batch.HasValue())
	assert.Equal(t, ErrorsConfig{
		FromSpans: "unhandled", FromLogs: "all", SkipIfSentrySDK: true, Tags: toissues.DefaultTags, Dedupe: 10 * time.Minute, MaxPerMinute: 60,
	}, cfg.Errors)
	assert.Equal(t, LogsConfig{MinSeverity: "trace"}, cfg.Logs)
	assert.Equal(t, MetricsConfig{Exemplars: true}, cfg.Metrics)
	assert.NotNil(t, cfg.destinations, "what the exporters of both signals share")
}

// TestDefaultsWithEveryGate: what gates of the collector add to the settings that are its own must
// not make the default invalid.
func TestDefaultsWithEveryGate(t *testing.T) {
	featuregate.GlobalRegistry().VisitAll(func(gate *featuregate.Gate) {
		if gate.Stage() == featuregate.StageStable || gate.Stage() == featuregate.StageDeprecated {
			return // cannot be set
		}
		was := gate.IsEnabled()
		require.NoError(t, featuregate.GlobalRegistry().Set(gate.ID(), !was))
		defer func() { require.NoError(t, featuregate.GlobalRegistry().Set(gate.ID(), was)) }()
		cfg, err := load(t, "dsn: "+testDSN)
		if assert.NoError(t, err, gate.ID()) {
			assert.False(t, cfg.Queue.Get().Batch.HasValue(), gate.ID())
		}
	})
}

func TestEveryKey(t *testing.T) {
	cfg, err := load(t, `
dsn: `+testDSN+`
dsns: [{match: {service.name: shop, service.version: 1.*}, dsn: `+testDSN+`}]
spans_as: spans
profiler_id_attributes: [host.name, process.pid]
report_losses: true
errors: {from_spans: all, from_logs: none, skip_if_sentry_sdk: false, include_pii: true, tags: [shop.region], dedupe: 1m, max_per_minute: 5}
logs: {min_severity: warn}
metrics: {include: [shop.*], exclude: [shop.debug], exemplars: false, buckets: true}
max_attempts: 5
timeout: 5s
compression: none
proxy_url: http://proxy:3128
headers: {X-Tenant: a}
sending_queue: {queue_size: 10, sizer: requests, num_consumers: 2, storage: file_storage}
retry_on_failure: {max_elapsed_time: 1h}
`)
	require.NoError(t, err)
	assert.Equal(t, testDSN, string(cfg.DSN))
	assert.NotContains(t, cfg.DSN.String(), "0123456789abcdef")
	assert.Equal(t, []RouteConfig{{map[string]string{"service.name": "shop", "service.version": "1.*"}, testDSN}}, cfg.DSNs)
	assert.Equal(t, "spans", cfg.SpansAs)
	assert.Equal(t, []string{"host.name", "process.pid"}, cfg.ProfilerIDAttributes)
	assert.True(t, cfg.ReportLosses)
	assert.Equal(t, ErrorsConfig{FromSpans: "all", FromLogs: "none", IncludePII: true, Tags: []string{"shop.region"}, Dedupe: time.Minute, MaxPerMinute: 5}, cfg.Errors)
	assert.Equal(t, LogsConfig{MinSeverity: "warn"}, cfg.Logs)
	assert.Equal(t, plog.SeverityNumberWarn, cfg.Logs.minNumber())
	assert.Equal(t, MetricsConfig{Include: []string{"shop.*"}, Exclude: []string{"shop.debug"}, Buckets: true}, cfg.Metrics)
	assert.Equal(t, 5, cfg.MaxAttempts)
	assert.Equal(t, 5*time.Second, cfg.HTTP.Timeout)
	assert.Equal(t, "http://proxy:3128", cfg.HTTP.ProxyURL)
	assert.Equal(t, int64(10), cfg.Queue.Get().QueueSize)
	assert.Equal(t, 2, cfg.Queue.Get().NumConsumers)
	assert.Equal(t, time.Hour, cfg.Retry.MaxElapsedTime)
}

// Only hosted Sentry is known to be recent.
func TestDefaultCompression(t *testing.T) {
	for host, want := range map[string]configcompression.Type{
		"o1.ingest.us.sentry.io":     "zstd",
		"sentry.io:443":              "zstd",
		"sentry.example.com":         "gzip",
		"notsentry.io":               "gzip",
		"sentry.io.example.com:9000": "gzip",
	} {
		assert.Equal(t, want, defaultCompression(sentry.DSN{Host: host}), host)
	}
}

func TestUnknownKeysFail(t *testing.T) {
	for text, key := range map[string]string{"dns: x": "dns", "http: {timeout: 1s}": "http", "sending_queue: {size: 1}": "size", "tls: {insecrue: true}": "insecrue",
		"errors: {from_log: all}": "from_log", "dsns: [{macht: {}}]": "macht"} {
		_, err := load(t, "dsn: "+testDSN+"\n"+text)
		assert.ErrorContains(t, err, key+": is not a known key", text)
	}
}

func TestValidate(t *testing.T) {
	for text, want := range map[string]string{
		`dsn: ""`:           `dsn: empty`,
		`dsn: sentry.io/42`: `dsn: dsn_invalid:`,
		`dsn: https://hunter2:hunter3@sentry.example/shop`: `dsn: dsn_bad_project: "shop"`,
		`endpoint: https://sentry.example`:                 `endpoint:`,
		`profiler_id_attributes: []`:                       `profiler_id_attributes: least`,
		`compression: snappy`:                              `compression: "snappy" "gzip" "zstd" "none"`,
		`compression_params: {level: 5}`:                   `compression_params::level: compression`,
		`sending_queue: {batch: {max_size: 10}}`:           `sending_queue::batch:`,
		`sending_queue: {queue_size: 1000}`:                `sending_queue::queue_size: 1000 1048576`,
		`max_attempts: 0`:                                  `max_attempts:`,
		`timeout: 30`:                                      `timeout: 30 30s unit`,
		`errors: {from_spans: some}`:                       `errors::from_spans: "some" "unhandled" "all" "none"`,
		`errors: {tags: [""]}`:                             `errors::tags: 50`,
		`errors: {dedupe: -1s}`:                            `errors::dedupe: -1s 0s negative`,
		`errors: {max_per_minute: -1}`:                     `errors::max_per_minute: -1 negative`,
		`logs: {min_severity: warning}`:                    `logs::min_severity: "warning" "trace" "debug" "info" "warn" "error" "fatal"`,
		`dsns: [{match: {}, dsn: ` + testDSN + `}]`:        `dsns[0]::match: least`,
		`dsns: [{match: {a: ""}, dsn: ` + testDSN + `}]`:   `dsns[0]::match: "a" incomplete`,
		`dsns: [{match: {a: b}}]`:                          `dsns[0]::dsn: dsn_invalid:`,
		`dsns: [{match: {a: b}, dsn: https://hunter2@o1.ingest.sentry.example/42}]`:                 `dsns[0]::dsn: o1.ingest.sentry.example/42 key`,
		`dsns: [{match: {a: b}, dsn: ` + testDSN + `}, {match: {a: b}, dsn: ` + testDSN + `}]`:      `dsns[1]::match: dsns[0]::match same`,
		`{dsns: [{match: {a: b}, dsn: ` + testDSN + `}], sending_queue: {enabled: false}}`:          `sending_queue: enabled`,
		`{dsns: [{match: {a: b}, dsn: ` + testDSN + `}], sending_queue: {block_on_overflow: true}}`: `sending_queue: block_on_overflow`,
		`spans_as: otlp`: `spans_as: "otlp" "transactions" "spans"`,
	} {
		switch {
		case strings.HasPrefix(text, "{"):
			text = "{dsn: " + testDSN + ", " + text[1:]
		case !strings.HasPrefix(text, "dsn:"):
			text = "dsn: " + testDSN + "\n" + text
		}
		_, err := load(t, text)
		metadatatest.ErrorHas(t, err, want, text)
		assert.NotContains(t, err.Error(), "hunter", "a secret")
	}
}

func TestREADMEConfigs(t *testing.T) {
	for _, name := range []string{"SENTRY_DSN", "SENTRY_DSN_SHOP", "SENTRY_DSN_API"} {
		t.Setenv(name, testDSN)
	}
	metadatatest.CheckREADME(t, "exporters", NewFactory())
}

// TestRoutesAreBounded: each project needs memory for its queues.
func TestRoutesAreBounded(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.DSN = testDSN
	for i := range 100 {
		cfg.DSNs = append(cfg.DSNs, RouteConfig{map[string]string{"service.name": fmt.Sprint(i)}, testDSN})
	}
	require.NoError(t, cfg.Validate())
	cfg.DSNs = append(cfg.DSNs, RouteConfig{map[string]string{"service.name": "one more"}, testDSN})
	assert.ErrorContains(t, cfg.Validate(), "dsns: has 101 ")
}
