// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	profilespb "go.opentelemetry.io/proto/otlp/profiles/v1development"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// TestHostileReproduced: requests that once stopped a collector, or made it drop all data. Each is
// sent to a collector with all components, whose data the kernel limits to 1 GiB. Afterwards, a
// valid profile reaches every destination.
func TestHostileReproduced(t *testing.T) {
	varies(t, "attacks that once stopped a collector or made it drop all data")
	for _, a := range reproduced {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			e := startEverything(t)
			busy, begin := e.c.CPUTime(t), time.Now()
			sent, status := a.do(t, e)
			took := time.Since(begin)
			worked := e.c.CPUTime(t) - busy
			assert.Less(t, worked, longestWork, "time of processors")
			t.Logf("%s of CPU time", worked.Round(time.Millisecond))
			e.checkServing(t)
			reportAttack(t, e.c, sent, status, took, attackLimit)
		})
	}
	t.Run("rate limits of 9 MiB in a response from Sentry", longRateLimits)
	t.Run("115,000 exceptions in logs, and resource names of control characters", manyExceptions)
}

// longestWork is the maximum CPU time for one of these requests.
const longestWork = 30 * time.Second

type reproduction struct {
	name string
	do   func(t *testing.T, e *everything) (sent, status int)
}

var reproduced = []reproduction{
	posted("60,000 measurement values and a chunk ID of 100 kB", 1, func() harness.Request {
		return harness.Chunk{ID: strings.Repeat("c", 100_000), More: `"measurements":{"cpu_usage":{"unit":"percent","values":[` +
			times(60_000, `{"timestamp":1700000000.5,"value":1}`) + `]}},`}.Request()
	}),
	posted("12,000 spans and a profiler ID of 300 kB", 1, func() harness.Request {
		return spansWith(`"profile":{"profiler_id":"`+strings.Repeat("p", 300_000)+`"},`, "")
	}),
	posted("12,000 spans and a thread name of 300 kB", 1, func() harness.Request {
		return spansWith("", `,"data":{"thread.id":"1","thread.name":"`+strings.Repeat("n", 300_000)+`"}`)
	}),
	posted("12,000 spans and a V1 profile with an ID of 300 kB", 1, func() harness.Request {
		r := spansWith("", "")
		r.Body = append(r.Body, "{\"type\":\"profile\"}\n"+harness.ProfileV1(strings.Repeat("i", 300_000))+"\n"...)
		return r
	}),
	posted("999 empty attachments and a release of 60 kB, in 60 concurrent requests", 60, func() harness.Request {
		return harness.EnvelopeRequest([]byte(`{"trace":{"trace_id":"` + testTrace + `","public_key":"` + harness.TestKey + `","release":"` + strings.Repeat("r", 60_000) + "\"}}\n" +
			strings.Repeat("{\"type\":\"attachment\",\"length\":0}\n\n", 999)))
	}),
	posted("1,000 security reports and a release of 900 kB, in 4 concurrent requests", 4, func() harness.Request {
		return harness.Request{Target: "/api/42/security/?sentry_key=" + harness.TestKey + "&sentry_release=" + strings.Repeat("r", 900_000),
			Headers: [][2]string{{"Content-Type", "application/reports+json"}}, Body: []byte("[" + times(1000, `{"type":"csp-violation","body":{}}`) + "]")}
	}),
	posted("1,000 security reports and a release of 60 kB, in 60 concurrent requests", 60, func() harness.Request {
		return harness.Request{Target: "/api/42/security/?sentry_key=" + harness.TestKey + "&sentry_release=" + strings.Repeat("r", 60_000),
			Headers: [][2]string{{"Content-Type", "application/reports+json"}}, Body: []byte("[" + times(1000, `{"type":"csp-violation","body":{}}`) + "]")}
	}),
	exported("a map of 200 kB as the module of 20,000 locations", harness.ProfilesPath, func() []byte {
		return hostileProfile(func(d *dict, _ *profile) {
			d.StringTable = append(d.StringTable, "sentry.frame.module")
			d.AttributeTable = append(d.AttributeTable, &profilespb.KeyValueAndUnit{KeyStrindex: int32(len(d.StringTable) - 1), Value: mapValue(200_000)})
			for i := range 20_000 {
				d.LocationTable = append(d.LocationTable, &profilespb.Location{Lines: []*profilespb.Line{{FunctionIndex: 1, Line: int64(i)}}, AttributeIndices: []int32{2}})
				d.StackTable[1].LocationIndices = append(d.StackTable[1].LocationIndices, int32(i+2))
			}
		})
	}),
	exported("a map of 200 kB as the thread ID of 20,000 samples", harness.ProfilesPath, func() []byte {
		return hostileProfile(func(d *dict, p *profile) {
			d.AttributeTable[1].Value = mapValue(200_000)
			for i := range 20_000 {
				s := sampleAt(p, 1)
				s.TimestampsUnixNano[1] += uint64(i)
				p.Samples = append(p.Samples, s)
			}
		})
	}),
	exported("a resource of 400 kB with 20,000 root spans", harness.TracesPath, func() []byte {
		var message tracepb.TracesData
		if err := proto.Unmarshal(spans("", 0, 20_000, func(int, *tracepb.Span) {}).message(), &message); err != nil {
			panic(err)
		}
		resource := message.ResourceSpans[0].Resource
		resource.Attributes = append(resource.Attributes, &commonpb.KeyValue{Key: "host.name", Value: textValue(strings.Repeat("h", 400_000))})
		return marshalled(&message)
	}),
	exported("a function name of 1 MB in 2,000 samples that are an hour apart", harness.ProfilesPath, func() []byte {
		return hostileProfile(func(d *dict, p *profile) {
			d.StringTable[5] = strings.Repeat("f", 1_000_000)
			for i := range 2000 {
				s := sampleAt(p, 1)
				for j := range s.TimestampsUnixNano {
					s.TimestampsUnixNano[j] += uint64(i) * uint64(time.Hour)
				}
				p.Samples = append(p.Samples, s)
			}
		})
	}),
	exported("40,000 mappings, each in its own stack", harness.ProfilesPath, func() []byte {
		return hostileProfile(func(d *dict, p *profile) {
			for i := range 40_000 {
				d.MappingTable = append(d.MappingTable, &profilespb.Mapping{MemoryStart: uint64(i) << 12, MemoryLimit: uint64(i+1) << 12, FilenameStrindex: 5})
				d.LocationTable = append(d.LocationTable, &profilespb.Location{MappingIndex: int32(i + 1), Address: uint64(i) << 12})
				d.StackTable = append(d.StackTable, &profilespb.Stack{LocationIndices: []int32{int32(i + 2)}})
				p.Samples = append(p.Samples, sampleAt(p, int32(i+2)))
			}
		})
	}),
	exported("a span with 60,000 attributes", harness.TracesPath, func() []byte {
		return spans("", 0, 1, func(_ int, s *tracepb.Span) {
			for i := range 60_000 {
				s.Attributes = append(s.Attributes, &commonpb.KeyValue{Key: fmt.Sprintf("a%d", i), Value: textValue("1")})
			}
		}).message()
	}),
	exported("a function name of 480 kB in 2,000 lines that match a transform", harness.ProfilesPath, func() []byte {
		return hostileProfile(func(d *dict, _ *profile) {
			d.StringTable[5] = strings.Repeat("<home/", 80_000)
			d.LocationTable[1].Lines = nil
			for i := range 2000 {
				d.LocationTable[1].Lines = append(d.LocationTable[1].Lines, &profilespb.Line{FunctionIndex: 1, Line: int64(i)})
			}
		})
	}),
	{name: "a trace that fills the viewer's store", do: func(t *testing.T, e *everything) (sent, status int) {
		for range 40 {
			message := spans("", 0, 2, func(_ int, s *tracepb.Span) { s.Name = strings.Repeat("s", 900_000) }).message()
			status, sent = postOTLP(t, "http://"+e.address["otlp"]+harness.TracesPath, message), sent+len(message)
		}
		for range 4000 {
			message := spans("", 0, 1, func(_ int, s *tracepb.Span) { s.Name = strings.Repeat("s", 9000) }).message()
			status, sent = postOTLP(t, "http://"+e.address["otlp"]+harness.TracesPath, message), sent+len(message)
		}
		return sent, status
	}},
	{name: "500 log records of 24 MB in total, and a request for their trace", do: func(t *testing.T, e *everything) (sent, status int) {
		attributes := harness.List(24, harness.Numbered(`"a`, `":{"type":"string","value":"`+strings.Repeat("<", 2000)+`"}`))
		var b bytes.Buffer
		b.WriteString("{}\n")
		for range 4 { // a container has at most 12 MiB
			b.WriteString("{\"type\":\"log\",\"content_type\":\"application/vnd.sentry.items.log+json\",\"item_count\":125}\n" +
				`{"version":2,"items":[` + times(125, `{"timestamp":1700000000,"level":"info","body":"x","trace_id":"`+testTrace+`","attributes":{`+attributes+`}}`) + "]}\n")
		}
		r := harness.EnvelopeRequest(zipped(b.Bytes())).WithEncoding("gzip")
		status = e.c.Send(t, r).Status
		for question, size := range e.ask(t) {
			if !strings.Contains(question, "download") {
				assert.LessOrEqual(t, size, maxAnswer, question)
			}
		}
		return len(r.Body), status
	}},
}

// posted sends a request to the Sentry receiver, gzipped, several times concurrently.
func posted(name string, times int, r func() harness.Request) reproduction {
	return reproduction{name: name, do: func(t *testing.T, e *everything) (int, int) {
		r := r()
		r.Body = zipped(r.Body)
		r = r.WithEncoding("gzip")
		var status atomic.Int64
		var all sync.WaitGroup
		for range times {
			all.Go(func() {
				if got, err := e.c.TrySend(r); assert.NoError(t, err) {
					status.Store(int64(got.Status))
				}
			})
		}
		all.Wait()
		return times * (len(r.Target) + len(r.Body)), int(status.Load())
	}}
}

// exported sends a message to the OTLP receiver, then all requests of the page.
func exported(name, path string, message func() []byte) reproduction {
	return reproduction{name: name, do: func(t *testing.T, e *everything) (sent, status int) {
		m := message()
		status = postOTLP(t, "http://"+e.address["otlp"]+path, m)
		e.ask(t)
		return len(m), status
	}}
}

// spansWith returns a transaction of 12,000 spans with additional members in contexts and in
// contexts.trace.
func spansWith(contexts, trace string) harness.Request {
	return harness.ItemRequest("transaction", `{"type":"transaction","event_id":"`+harness.NewID()+`","start_timestamp":1700000000,"timestamp":1700000001,"contexts":{`+contexts+
		`"trace":{"trace_id":"`+testTrace+`","span_id":"0000000000000001"`+trace+`}},"spans":[`+harness.List(12_000, func(b []byte, i int) []byte {
		return fmt.Appendf(b, `{"trace_id":"%s","span_id":"%016x","start_timestamp":1700000000,"timestamp":1700000001}`, testTrace, i+2)
	})+`]}`)
}

// mapValue returns a map that contains a text of n bytes.
func mapValue(n int) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{
		Values: []*commonpb.KeyValue{{Key: "k", Value: textValue(strings.Repeat("m", n))}},
	}}}
}

// longRateLimits: Sentry's responses are bounded, too, even if another server sends them.
func longRateLimits(t *testing.T) {
	limits := times(250_000, "60:profile_chunk:organization:quota_of_"+strings.Repeat("q", 4))
	var answers int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if answers++; answers == 1 {
			w.Header().Set("X-Sentry-Rate-Limits", limits[:9<<20])
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	t.Cleanup(server.Close)
	c := harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Config: fmt.Sprintf(`
receivers: {sentry: {endpoint: "ENDPOINT"}}
exporters: {sentry_envelope: {dsn: %q}}
service: {pipelines: {profiles: {receivers: [sentry], exporters: [sentry_envelope]}}}
`, strings.Replace(server.URL, "://", "://"+harness.TestKey+"@", 1)+"/42")})
	begin := time.Now()
	require.Equal(t, http.StatusOK, c.Send(t, harness.Chunk{}.Request()).Status)
	require.Eventually(t, func() bool { return answers > 0 }, 30*time.Second, 20*time.Millisecond)
	time.Sleep(time.Second)
	reportAttack(t, c, 9<<20, http.StatusTooManyRequests, time.Since(begin), memorySmall)
}

// manyExceptions: each exception becomes an event that repeats the resource, and JSON writes a
// control character as six. The message is below the limit that we recommend for the OTLP receiver.
func manyExceptions(t *testing.T) {
	server, backend, otlp := fakesentry.Start(t), harness.NewSink(t), harness.FreeAddress(t)
	c := harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: ENDPOINT}
  otlp: {protocols: {http: {endpoint: %q, max_request_body_size: 4194304}}}
exporters:
  sentry_envelope: {dsn: %q}
  otlp_http: {endpoint: %q, sending_queue: {enabled: false}}
service:
  pipelines:
    logs: {receivers: [otlp], exporters: [sentry_envelope]}
    profiles: {receivers: [sentry], exporters: [otlp_http]}
`, otlp, server.DSN(), backend.URL())})
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	for _, key := range []string{
		semconv.ServiceName, semconv.ServiceVersion, semconv.ServiceNamespace, semconv.ServiceInstanceID, semconv.DeploymentEnvironment,
		semconv.HostName, semconv.TelemetrySDKName, semconv.TelemetrySDKLanguage, semconv.ProcessRuntimeName, semconv.ProcessRuntimeVersion,
	} {
		resource.Resource().Attributes().PutStr(key, strings.Repeat("\x01", 256))
	}
	records := resource.ScopeLogs().AppendEmpty().LogRecords()
	for i := range 115_000 {
		records.AppendEmpty().Attributes().PutStr(semconv.ExceptionType, strconv.Itoa(i))
	}
	message, err := new(plog.ProtoMarshaler).MarshalLogs(logs)
	require.NoError(t, err)
	begin := time.Now()
	status := postOTLP(t, "http://"+otlp+"/v1/logs", message)
	checkServing(t, c, backend)
	reportAttack(t, c, len(message), status, time.Since(begin), memoryLarge)
}
