// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestOTLPIntegrations: SDKs whose spans are OpenTelemetry's send them to the endpoint of the DSN.
// Spans, logs and events are in one trace and have the same resource, and profiles are linked to
// the spans.
func TestOTLPIntegrations(t *testing.T) {
	only := strings.Fields(os.Getenv("SDKS"))
	for _, test := range []struct {
		sdk
		profiled bool // else the SDK has no profiler, or none of its version
	}{
		{sdk{"Python", "python", "otel", nil}, true},
		{sdk{"Python", "python", "otel-3.0.0b2", nil}, true},
		{sdk{"Node", "node", "otel", nil}, false},
		{sdk{"Go", "go", "otel", nil}, false},
	} {
		if len(only) > 0 && !slices.Contains(only, test.folder) {
			continue
		}
		t.Run(test.folder+"-"+test.version, func(t *testing.T) {
			if reason := test.missing(t); reason != "" {
				t.Skip(reason)
			}
			checkIntegration(t, test.sdk, test.profiled)
		})
	}
}

func checkIntegration(t *testing.T, s sdk, profiled bool) {
	backend := harness.NewSink(t)
	backend.Check(harness.CheckOTLP)
	upstream := newUpstream(t)
	c := harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
extensions:
  sentry_tee: {upstream: '%s'}
receivers:
  sentry: {endpoint: ENDPOINT, middlewares: [{id: sentry_tee}]}
processors:
  profile_transform: {link: {wait: %s}}
exporters:
  otlp_http: {endpoint: %s, compression: none, sending_queue: {enabled: false}}
service:
  extensions: [sentry_tee]
  pipelines:
    profiles: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http]}
    traces: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http]}
    logs: {receivers: [sentry], exporters: [otlp_http]}
`, upstream.URL, linkWait, backend.URL())})
	between := newRecorder(t, c.Address)
	said := s.run(t, "otlp", between.dsn())
	profiles := 0
	if profiled {
		profiles = 1
	}
	messages := await(t, backend, profiles)
	compareForwarded(t, between.all(), upstream)
	c.Stop(t)
	require.NotEmpty(t, said.Spans)
	require.NotEmpty(t, said.Errors)
	require.NotEmpty(t, said.Logs)
	names := checkSaid(t, said, messages)

	traces, services := map[string]bool{}, map[string]bool{}
	for _, id := range said.Spans {
		traces[strings.Split(id, "/")[0]] = true
	}
	records := 0
	for _, message := range messages[harness.LogsPath] {
		request := plogotlp.NewExportRequest()
		require.NoError(t, request.UnmarshalProto(message))
		for _, resource := range request.Logs().ResourceLogs().All() {
			services[fmt.Sprint(resource.Resource().Attributes().AsRaw()["service.name"])] = true
			for _, scope := range resource.ScopeLogs().All() {
				for _, record := range scope.LogRecords().All() {
					traces[record.TraceID().String()] = true
					if !record.SpanID().IsEmpty() { // JavaScript's logs state only the trace
						assert.Contains(t, names, record.TraceID().String()+"/"+record.SpanID().String(), "span of the record %s", record.Body().AsString())
					}
					records++
				}
			}
		}
	}
	assert.Equal(t, len(said.Errors)+len(said.Logs), records)
	assert.Len(t, traces, 1, "spans, logs and events are in one trace")
	for _, message := range messages[harness.TracesPath] {
		request := ptraceotlp.NewExportRequest()
		require.NoError(t, request.UnmarshalProto(message))
		for _, resource := range request.Traces().ResourceSpans().All() {
			attributes := resource.Resource().Attributes().AsRaw()
			services[fmt.Sprint(attributes["service.name"])] = true
			assert.Equal(t, "42", attributes["sentry.project_id"])
		}
	}
	assert.Equal(t, map[string]bool{"shop": true}, services)
	if profiled {
		checkLinks(t, said.Busy, readProfiles(t, messages[harness.ProfilesPath]), names)
	}
}
