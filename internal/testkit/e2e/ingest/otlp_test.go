// SPDX-License-Identifier: Apache-2.0

//go:build ingest

package ingest

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestFiles sends all cases and all OTLP files.
func TestFiles(t *testing.T) {
	s, root := start(t), golden.Root(t)
	for _, c := range golden.Cases(t) {
		if _, err := s.collector.TrySend(harness.EnvelopeRequest(c.Envelope)); err != nil {
			t.Log(c.Name, err)
		}
	}
	for _, folder := range []string{"otlp", "reported"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, "testdata", folder), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				output, err := exec.Command(filepath.Join(root, "dist", "envelope"), "send", "--otlp", "http://"+s.otlp, path).CombinedOutput()
				t.Logf("%v %s", err, output)
			}
			return err
		}))
	}
	all := s.stored(t)
	for project, name := range map[int]string{exported: "files", spansOnly: "files_spans"} {
		refused(all, project).compare(t, name+"_refused.txt")
		for row, items := range remarksOf(all, project) { // to review by hand: many cases are hostile
			t.Logf("remark in project %d: %s, %d items", project, row, len(items))
		}
	}
}

// TestOpenTelemetry sends what OpenTelemetry's SDKs send.
func TestOpenTelemetry(t *testing.T) {
	s := start(t)
	t.Run("1,500 spans keep their names", s.testNames)
	t.Run("head sampling", s.testSampling)
	t.Run("logs, metrics and exceptions", s.testOtherSignals)
}

func (s *setup) post(t *testing.T, path string, body []byte, err error) {
	require.NoError(t, err)
	got, err := harness.SendTo(s.otlp, harness.Request{Target: path, Headers: [][2]string{{"Content-Type", "application/x-protobuf"}}, Body: body})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, got.Status, got.Body)
}

func (s *setup) postTraces(t *testing.T, traces ptrace.Traces) {
	body, err := ptraceotlp.NewExportRequestFromTraces(traces).MarshalProto()
	s.post(t, harness.TracesPath, body, err)
}

func describe(resource pcommon.Resource) {
	for key, value := range map[string]string{
		"service.name": "shop", "service.version": "1.2.3", "service.instance.id": "shop-1", "deployment.environment.name": "prod",
		"telemetry.sdk.name": "opentelemetry", "telemetry.sdk.language": "java", "telemetry.sdk.version": "1.55.0", "host.name": "web-1",
	} {
		resource.Attributes().PutStr(key, value)
	}
}

// kindsOfSpans are attributes by instrumentation. Sentry derives names from them if it may.
var kindsOfSpans = []struct {
	kind       ptrace.SpanKind
	attributes map[string]any
}{
	{ptrace.SpanKindInternal, nil},
	{ptrace.SpanKindClient, map[string]any{"http.request.method": "GET", "url.full": "https://api.example/items?id=1", "server.address": "api.example", "http.response.status_code": int64(404)}},
	{ptrace.SpanKindClient, map[string]any{"db.system.name": "postgresql", "db.query.text": "SELECT * FROM items WHERE id = $1", "db.operation.name": "SELECT", "db.collection.name": "items"}},
	{ptrace.SpanKindProducer, map[string]any{"messaging.system": "kafka", "messaging.destination.name": "orders", "messaging.operation.type": "publish"}},
	{ptrace.SpanKindConsumer, map[string]any{"messaging.system.name": "kafka", "messaging.destination.name": "orders", "messaging.operation.type": "process"}},
	{ptrace.SpanKindClient, map[string]any{"rpc.system": "grpc", "rpc.service": "Cart", "rpc.method": "Add"}},
	{ptrace.SpanKindServer, map[string]any{"http.request.method": "POST", "http.route": "/cart/{id}", "url.path": "/cart/7", "user.id": "u7", "client.address": "203.0.113.9", "user_agent.original": "Mozilla/5.0"}},
	{ptrace.SpanKindClient, map[string]any{"gen_ai.system": "openai", "gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}},
}

// trace appends a trace with n spans below a root.
func trace(spans ptrace.SpanSlice, n int, state string, end time.Time) {
	var traceID pcommon.TraceID
	copy(traceID[:], harness.NewID())
	for i := range n {
		span := spans.AppendEmpty()
		span.SetTraceID(traceID)
		span.SetSpanID(spanID(i))
		span.SetName(fmt.Sprint("span number ", i))
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(end.Add(-time.Second)))
		span.SetEndTimestamp(pcommon.NewTimestampFromTime(end))
		span.TraceState().FromRaw(state)
		span.SetFlags(0x101) // sampled, with a local parent
		if i == 0 {
			span.SetKind(ptrace.SpanKindServer)
			continue
		}
		span.SetParentSpanID(spanID((i - 1) / 8))
		kind := kindsOfSpans[i%len(kindsOfSpans)]
		span.SetKind(kind.kind)
		_ = span.Attributes().FromRaw(kind.attributes) // strings and numbers
		if i%7 == 0 {
			span.Status().SetCode(ptrace.StatusCodeError)
		}
	}
}

func spanID(i int) (id pcommon.SpanID) {
	id[0], id[6], id[7] = 1, byte(i>>8), byte(i)
	return id
}

func newTraces() (ptrace.Traces, ptrace.SpanSlice) {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	describe(resource.Resource())
	scope := resource.ScopeSpans().AppendEmpty()
	scope.Scope().SetName("io.opentelemetry.test")
	return traces, scope.Spans()
}

func (s *setup) testNames(t *testing.T) {
	const n = 1500
	traces, spans := newTraces()
	trace(spans, n, "", time.Now())
	s.postTraces(t, traces)
	all := s.stored(t)
	requireNoneRefused(t, all)
	for _, project := range []int{exported, spansOnly} {
		stored := map[string]map[string]any{}
		for i := range all {
			if all[i].kind == "span" && all[i].project == project {
				id := fmt.Sprint(all[i].body["span_id"])
				assert.Nil(t, stored[id], "stored twice: %s", id)
				stored[id] = all[i].body
			}
		}
		assert.Len(t, stored, n)
		for _, span := range spans.All() {
			got := stored[span.SpanID().String()]
			require.NotNil(t, got, "project %d stores %q", project, span.Name())
			require.Equal(t, span.Name(), got["name"], "project %d", project)
			want := "ok"
			if span.Status().Code() == ptrace.StatusCodeError {
				want = "error"
			}
			require.Equal(t, want, got["status"], "project %d, %s", project, span.Name())
			require.Equal(t, "shop@1.2.3", attribute(got, "sentry.release"))
			require.Equal(t, "prod", attribute(got, "sentry.environment"))
			require.Equal(t, "span number 0", attribute(got, "sentry.segment.name"), "project %d, %s: segment", project, span.Name())
		}
	}
}

// attribute returns the value of an attribute of a stored span.
func attribute(span map[string]any, key string) any {
	attributes, _ := span["attributes"].(map[string]any)
	value, _ := attributes[key].(map[string]any)
	return value["value"]
}

func requireNoneRefused(t *testing.T, all []stored) {
	t.Helper()
	for _, project := range []int{exported, spansOnly} {
		for row, outcomes := range refused(all, project) {
			assert.Fail(t, "ingest refuses data", "project %d: %s\n%s", project, row, outcomes[0])
		}
	}
}

// testSampling: of 1,000 traces, head sampling kept 100, and Sentry extrapolates to 1,000.
func (s *setup) testSampling(t *testing.T) {
	for _, state := range []string{"ot=th:e6666666666666", "ot=th:e666", "ot=p:3;r:5"} {
		want := 1000.0
		if state == "ot=p:3;r:5" {
			want = 800
		}
		traces, spans := newTraces()
		for range 100 {
			trace(spans, 3, state, time.Now())
		}
		s.postTraces(t, traces)
		all := s.stored(t)
		requireNoneRefused(t, all)
		for _, project := range []int{exported, spansOnly} {
			segments, total := 0.0, 0.0
			for i := range all {
				if all[i].kind != "span" || all[i].project != project {
					continue
				}
				weight := 1.0
				if rate := number(attribute(all[i].body, "sentry.client_sample_rate")); rate > 0 {
					weight = 1 / rate
				}
				total += weight
				if all[i].body["is_segment"] == true {
					segments += weight
				}
			}
			assert.InEpsilon(t, 3*want, total, 0.001, "%s: spans of project %d", state, project)
			assert.InEpsilon(t, want, segments, 0.001, "%s: segments of project %d", state, project)
			t.Logf("%s: project %d has %.1f segments and %.1f spans", state, project, segments, total)
		}
	}
}

func (s *setup) testOtherSignals(t *testing.T) {
	now := pcommon.NewTimestampFromTime(time.Now())
	logs := plog.NewLogs()
	ofLogs := logs.ResourceLogs().AppendEmpty()
	describe(ofLogs.Resource())
	records := ofLogs.ScopeLogs().AppendEmpty().LogRecords()
	for i := range 120 {
		record := records.AppendEmpty()
		record.SetTimestamp(now)
		record.SetSeverityNumber(plog.SeverityNumber(i % 25))
		record.Body().SetStr(fmt.Sprint("record ", i))
		if i%2 == 0 {
			record.SetTraceID(pcommon.TraceID{1, byte(i)})
			record.SetSpanID(spanID(i))
		}
		_ = record.Attributes().FromRaw(map[string]any{
			"count": int64(math.MaxInt64), "ratio": 0.5, "ok": true, "tags": []any{"a", "b"}, "mixed": []any{"a", int64(1)}, "nan": math.NaN(),
			"object": map[string]any{"a": map[string]any{"b": int64(1)}}, "infinite": []any{1.5, math.Inf(1)},
		})
		if i%10 == 0 {
			record.Attributes().PutStr("exception.type", "java.lang.IllegalStateException")
			record.Attributes().PutStr("exception.message", "out of stock")
			record.Attributes().PutStr("exception.stacktrace", "java.lang.IllegalStateException: out of stock\n\tat shop.Cart.add(Cart.java:42)\n\tat shop.Main.main(Main.java:7)\n")
		}
	}
	body, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
	s.post(t, harness.LogsPath, body, err)

	metrics := pmetric.NewMetrics()
	ofMetrics := metrics.ResourceMetrics().AppendEmpty()
	describe(ofMetrics.Resource())
	all := ofMetrics.ScopeMetrics().AppendEmpty().Metrics()
	for i, unit := range []string{"s", "By", "{item}", "1", "%", "cd"} {
		metric := all.AppendEmpty()
		metric.SetName(fmt.Sprint("jvm.metric/", i))
		metric.SetUnit(unit)
		point := metric.SetEmptyGauge().DataPoints().AppendEmpty()
		point.SetTimestamp(now)
		point.SetDoubleValue(1.5)
		point.Attributes().PutStr("pool", "main")
	}
	sum := all.AppendEmpty()
	sum.SetName("http.requests")
	sum.SetEmptySum().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	sum.Sum().SetIsMonotonic(true)
	point := sum.Sum().DataPoints().AppendEmpty()
	point.SetTimestamp(now)
	point.SetIntValue(17)
	histogram := all.AppendEmpty()
	histogram.SetName("http.server.request.duration")
	histogram.SetUnit("s")
	histogram.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	data := histogram.Histogram().DataPoints().AppendEmpty()
	data.SetTimestamp(now)
	data.SetCount(10)
	data.SetSum(4)
	data.ExplicitBounds().FromRaw([]float64{0.1, 1})
	data.BucketCounts().FromRaw([]uint64{5, 4, 1})
	body, err = pmetricotlp.NewExportRequestFromMetrics(metrics).MarshalProto()
	s.post(t, harness.MetricsPath, body, err)

	traces, spans := newTraces()
	trace(spans, 9, "", time.Now())
	for _, span := range spans.All() {
		event := span.Events().AppendEmpty()
		event.SetName("exception")
		event.SetTimestamp(now)
		event.Attributes().PutStr("exception.type", "ValueError")
		event.Attributes().PutStr("exception.message", "no "+span.Name())
		event.Attributes().PutBool("exception.escaped", true)
	}
	s.postTraces(t, traces)

	stored := s.stored(t)
	requireNoneRefused(t, stored)
	found := remarksOf(stored, exported)
	maps.Copy(found, remarksOf(stored, spansOnly))
	found.compare(t, "opentelemetry_remarks.txt")
	kinds := map[string]int{}
	for i := range stored {
		if stored[i].project == exported {
			kinds[stored[i].kind]++
		}
	}
	assert.Equal(t, 120, kinds["log"])
	assert.NotZero(t, kinds["trace_metric"])
	assert.NotZero(t, kinds["event"])
}
