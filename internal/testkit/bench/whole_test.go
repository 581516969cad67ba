// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/discard"
)

// wholeExporters are the exporters to which profiles go, after they are linked, and their settings.
// They have no queues, so that a chunk is exported when its request is answered.
var wholeExporters = []struct{ name, exporter string }{
	{"otlp_http-gzip", "otlp_http/gzip: {endpoint: 'HTTP', compression: gzip, QUEUE}"},
	{"otlp_http-fast_gzip", "otlp_http/fast: {endpoint: 'HTTP', compression: none, middlewares: [{id: fast_gzip}], QUEUE}"},
	{"otlp_http-zstd", "otlp_http/zstd: {endpoint: 'HTTP', compression: zstd, QUEUE}"},
	{"otlp_grpc-gzip", "otlp_grpc: {endpoint: 'GRPC', tls: {insecure: true}, QUEUE}"},
	{"sentry_envelope-gzip", "sentry_envelope/gzip: {dsn: 'DSN', compression: gzip, QUEUE}"},
	{"sentry_envelope-zstd", "sentry_envelope/zstd: {dsn: 'DSN', compression: zstd, QUEUE}"},
}

// BenchmarkWhole compares the CPU time of the built collector for receiving, linking and exporting
// a chunk with that for receiving alone, for several exporters.
func BenchmarkWhole(b *testing.B) {
	backend, err := discard.Start()
	must(err)
	defer backend.Close()
	c, err := startCollector(2+len(wholeExporters), func(listen []string) string { return backend.Settings(wholeConfig(listen)) })
	if err != nil {
		b.Skip(err)
	}
	defer c.stop()
	spansURL, receivers := "http://"+c.listen[0]+"/v1/traces", c.listen[1:]

	small := payload.Python(typical / 10)
	small.Name += "-0.5MB"
	sources := append(payload.Typical(typical)[:2], payload.Source{Name: small.Name, Load: func() (payload.Payload, error) { return small, nil }})
	for _, recording := range recorded {
		if strings.HasPrefix(recording.Name, "rec-py") || strings.HasPrefix(recording.Name, "rec-java") {
			sources = append(sources, recording)
		}
	}
	onEach(b, sources, func(b *testing.B, p payload.Payload) {
		spans, err := ptraceotlp.NewExportRequestFromTraces(spansOf(p)).MarshalProto()
		must(err)
		_, err = c.send(request{spansURL, "application/x-protobuf", payload.Zip(spans)}, 1)
		must(err)
		var requests []request
		envelope := payload.Zip(p.Envelope())
		for _, address := range receivers {
			requests = append(requests, request{"http://" + address + envelopePath, "application/x-sentry-envelope", envelope})
		}
		took, err := c.race(b, max(2, 15*typical/p.Samples), requests...)
		must(err)
		for i, exporter := range wholeExporters {
			report(b, exporter.name+"÷receive", took[1+i], took[0])
		}
	})
}

// wholeConfig has an OTLP receiver for spans, a sentry receiver whose profiles are dropped, and one
// for each exporter.
func wholeConfig(listen []string) string {
	config := `
extensions: {fast_gzip: }
service:
  extensions: [fast_gzip]
  telemetry: {metrics: {level: none}, logs: {level: error}}
  pipelines:
    traces: {receivers: [otlp], processors: [profile_transform], exporters: [nop]}
    profiles: {receivers: [sentry], exporters: [nop]}
`
	receivers := fmt.Sprintf("  otlp: {protocols: {http: {endpoint: '%s'}}}\n  sentry: {endpoint: '%s'}\n", listen[0], listen[1])
	exporters := "  nop:\n"
	for i, e := range wholeExporters {
		id, _, _ := strings.Cut(e.exporter, ":")
		receivers += fmt.Sprintf("  sentry/%d: {endpoint: '%s'}\n", i, listen[2+i])
		exporters += "  " + e.exporter + "\n"
		config += fmt.Sprintf("    profiles/%d: {receivers: [sentry/%d], processors: [profile_transform], exporters: [%s]}\n", i, i, id)
	}
	config += "receivers:\n" + receivers + "exporters:\n" + exporters + "processors:\n  profile_transform: {link: {wait: 0s}}\n"
	return strings.ReplaceAll(config, "QUEUE", "sending_queue: {enabled: false}")
}

// spansOf returns requests on all threads of a chunk, without pauses: see requestsOf.
func spansOf(p payload.Payload) ptrace.Traces {
	profiles := decodeAndMap(p)
	profile := profiles.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
	session := pcommon.NewMap()
	for _, i := range profile.AttributeIndices().All() {
		attribute := profiles.Dictionary().AttributeTable().At(int(i))
		if key := profiles.Dictionary().StringTable().At(int(attribute.KeyStrindex())); strings.HasSuffix(key, "profiler_id") {
			attribute.Value().CopyTo(session.PutEmpty("sentry.profiler_id"))
		}
	}
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("sentry.project_id", source.ProjectID)
	spans := resource.ScopeSpans().AppendEmpty().Spans()
	for from := range requestsOf(profiles) {
		span := spans.AppendEmpty()
		session.CopyTo(span.Attributes())
		span.Attributes().PutStr("thread.id", from.Thread)
		span.SetTraceID(from.Trace)
		span.SetSpanID(from.ID)
		span.SetParentSpanID(from.Parent)
		span.SetStartTimestamp(pcommon.Timestamp(from.Start))
		span.SetEndTimestamp(pcommon.Timestamp(from.End))
	}
	return traces
}
