// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	profilespb "go.opentelemetry.io/proto/otlp/profiles/v1development"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestHostilePage: attacks on the viewer by stored messages and by requests. After each attack, the
// viewer responds, and lists the latest message.
func TestHostilePage(t *testing.T) {
	varies(t, "profiles and traces that the viewer stores, queries, and clients that do not read")
	for _, a := range keptAttacks {
		t.Run(a.name, parallel(a.runOnPage))
	}
	for _, a := range pageAttacks {
		t.Run(a.name, parallel(a.run))
	}
}

// startPage starts a collector with OTLP as input and only the viewer as output.
func startPage(t *testing.T, limit int) (c *harness.Collector, otlp, page string) {
	in, page := harness.FreeAddress(t), harness.FreeAddress(t)
	c = harness.Start(t, harness.Settings{MemoryLimit: limit, Config: fmt.Sprintf(`
receivers:
  otlp: {protocols: {http: {endpoint: %q}}}
  sentry: {endpoint: ENDPOINT} # whose health check says that the collector is up
exporters:
  profile_viewer: {endpoint: %q}
service:
  pipelines:
    profiles: {receivers: [otlp, sentry], exporters: [profile_viewer]}
    traces: {receivers: [otlp], exporters: [profile_viewer]}
`, in, page)})
	return c, "http://" + in, page
}

func (a otlpAttack) runOnPage(t *testing.T) {
	c, otlp, page := startPage(t, limitFor(a.memory))
	message := a.message()
	busy, begin, status := c.CPUTime(t), time.Now(), 0
	for range cmp.Or(a.times, 1) {
		status = postOTLP(t, otlp+cmp.Or(a.path, harness.ProfilesPath), message)
		assert.Equal(t, http.StatusOK, status)
	}
	took := time.Since(begin)
	assert.Less(t, c.CPUTime(t)-busy, longestAnswer)
	askPage(t, c, page)
	checkPage(t, otlp, page)
	reportAttack(t, c, len(message), status, took, a.memory)
}

// longestAnswer is the maximum CPU time to store or show a message.
const longestAnswer = 10 * time.Second

// longestResponse is the maximum size of a response of the viewer's API.
const longestResponse = 8 << 20

// pageQuestions are all requests of the page except the overview; %s is the ID of a profile.
var pageQuestions = []string{
	"profiles/%s", "flame?profile=%s", "ordered?profile=%s&thread=1", "frame?profile=%s&frame=0", "compare?a=1&b=%s",
	"download/pprof?profile=%s", "download/speedscope?profile=%s", "download/otlp?profile=%s", "traces/" + testTrace, "logs",
}

// askPage sends all requests of the page for the latest profile and trace.
func askPage(t *testing.T, c *harness.Collector, page string) {
	t.Helper()
	latest := latestProfile(t, page)
	for _, question := range pageQuestions {
		if strings.Contains(question, "%s") {
			question = fmt.Sprintf(question, latest)
		}
		busy := c.CPUTime(t)
		response, err := http.Get("http://" + page + "/api/" + question)
		require.NoError(t, err, question)
		length, err := io.Copy(io.Discard, response.Body)
		response.Body.Close()
		assert.NoError(t, err, question)
		if !strings.HasPrefix(question, "download/") {
			assert.LessOrEqual(t, length, int64(longestResponse), question)
		}
		assert.Less(t, response.StatusCode, 500, question)
		assert.Less(t, c.CPUTime(t)-busy, longestAnswer, question)
	}
}

// latestProfile returns the ID of the first profile in the list, or "1" if there is none.
func latestProfile(t *testing.T, page string) string {
	t.Helper()
	var overview struct {
		Services []any
		Profiles []struct{ ID string }
	}
	response, err := http.Get("http://" + page + "/api/overview")
	require.NoError(t, err, "overview")
	defer response.Body.Close()
	require.NoError(t, json.NewDecoder(response.Body).Decode(&overview))
	assert.LessOrEqual(t, len(overview.Services), 200)
	if len(overview.Profiles) == 0 {
		return "1"
	}
	return overview.Profiles[0].ID
}

// checkPage checks that the viewer lists a valid profile.
func checkPage(t *testing.T, otlp, page string) {
	t.Helper()
	before := latestProfile(t, page)
	require.Equal(t, http.StatusOK, postOTLP(t, otlp+harness.ProfilesPath, hostileProfile(func(*dict, *profile) {})))
	after := latestProfile(t, page)
	assert.True(t, after != before || after == "1", "a valid profile is listed")
}

// Messages that are hostile to the viewer's store.
var keptAttacks = []otlpAttack{
	{name: "200,000 profiles of one trace, sent twice", times: 2, memory: memoryLarge * 3 / 2, message: func() []byte {
		d := validDictionary()
		d.LinkTable = append(d.LinkTable, link(1))
		return exportOf(d, repeated(200_000, &profile{Samples: []*profilespb.Sample{{StackIndex: 1, LinkIndex: 1, TimestampsUnixNano: []uint64{1}}}}))
	}},
	{name: "200,000 profiles with a long sample type", memory: memoryLarge, message: func() []byte {
		d := validDictionary()
		d.StringTable[1] = strings.Repeat("t", 2000)
		return exportOf(d, repeated(200_000, &profile{
			SampleType: &profilespb.ValueType{TypeStrindex: 1, UnitStrindex: 1}, Samples: []*profilespb.Sample{{StackIndex: 1, Values: []int64{1}}},
		}))
	}},
	{name: "a trace of text that JSON must escape", path: harness.TracesPath, times: 7, memory: memoryLarge, message: func() []byte {
		now, text, spans := uint64(time.Now().UnixNano()), strings.Repeat("<", 2000), []*tracepb.Span{}
		for i := range 280 {
			span := &tracepb.Span{TraceId: traceID(), SpanId: spanID(i), Name: text, StartTimeUnixNano: now, EndTimeUnixNano: now + 1_000_000}
			for j := range 34 {
				span.Attributes = append(span.Attributes, &commonpb.KeyValue{Key: fmt.Sprint(j), Value: textValue(text)})
			}
			spans = append(spans, span)
		}
		return marshalled(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: spans}}}}})
	}},
	{name: "a profile with 2,000 long function names", memory: memoryLarge, message: func() []byte {
		d, p := validDictionary(), newProfile()
		for range 2 {
			stack := &profilespb.Stack{}
			for range 1000 {
				stack.LocationIndices = append(stack.LocationIndices, longFunction(d))
			}
			d.StackTable = append(d.StackTable, stack)
			p.Samples = append(p.Samples, sampleAt(p, int32(len(d.StackTable)-1)))
		}
		return exportOf(d, []*profile{p})
	}},
	{name: "100,000 profiles that share one deep stack", memory: memoryLarge, message: func() []byte {
		d := validDictionary()
		d.StackTable = append(d.StackTable, &profilespb.Stack{LocationIndices: repeated[int32](50_000, 1)})
		return exportOf(d, repeated(100_000, &profile{Samples: []*profilespb.Sample{{StackIndex: 2, Values: []int64{1}}}}))
	}},
	{name: "a map of 1 MiB as the thread ID, and as the module of 100,000 locations", memory: memoryLarge, message: func() []byte {
		d, p := validDictionary(), newProfile()
		d.StringTable = append(d.StringTable, "sentry.frame.module")
		large := &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{
			Values: []*commonpb.KeyValue{{Key: "k", Value: textValue(strings.Repeat("x", 1<<20))}},
		}}}
		d.AttributeTable[1].Value = large
		d.AttributeTable = append(d.AttributeTable, &profilespb.KeyValueAndUnit{KeyStrindex: int32(len(d.StringTable) - 1), Value: large})
		stack := &profilespb.Stack{}
		for range 100_000 {
			stack.LocationIndices = append(stack.LocationIndices, int32(len(d.LocationTable)))
			d.LocationTable = append(d.LocationTable, &profilespb.Location{AttributeIndices: []int32{2}, Lines: d.LocationTable[1].Lines})
			p.Samples = append(p.Samples, sampleAt(p, 2))
		}
		d.StackTable = append(d.StackTable, stack)
		return exportOf(d, []*profile{p})
	}},
	{name: "a trace with 100,000 services", path: harness.TracesPath, memory: memoryLarge, message: func() []byte {
		now, all := uint64(time.Now().UnixNano()), &tracepb.TracesData{}
		for i := range 100_000 {
			all.ResourceSpans = append(all.ResourceSpans, &tracepb.ResourceSpans{
				Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{{Key: "service.name", Value: textValue(fmt.Sprint("service ", i))}}},
				ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{
					{TraceId: traceID(), SpanId: spanID(i), Name: "span", StartTimeUnixNano: now, EndTimeUnixNano: now + 1_000_000},
				}}},
			})
		}
		return marshalled(all)
	}},
}

// newProfile returns a valid profile without samples.
func newProfile() *profile {
	return &profile{
		SampleType: &profilespb.ValueType{TypeStrindex: 1, UnitStrindex: 2}, PeriodType: &profilespb.ValueType{TypeStrindex: 3, UnitStrindex: 4},
		Period: 10_000_000, TimeUnixNano: uint64(time.Now().UnixNano()), DurationNano: 1_000_000_000,
	}
}

// longFunction adds a location with a function that has only long names, and returns its index.
func longFunction(d *dict) int32 {
	name := int32(len(d.StringTable))
	d.StringTable = append(d.StringTable, fmt.Sprint(name, strings.Repeat("<", 2000)), fmt.Sprint("_", name, strings.Repeat("<", 2000)), fmt.Sprint("/", name, strings.Repeat("<", 2000)))
	d.FunctionTable = append(d.FunctionTable, &profilespb.Function{NameStrindex: name, SystemNameStrindex: name + 1, FilenameStrindex: name + 2})
	d.LocationTable = append(d.LocationTable, &profilespb.Location{Lines: []*profilespb.Line{{FunctionIndex: int32(len(d.FunctionTable) - 1), Line: 1}}})
	return int32(len(d.LocationTable) - 1)
}

// pageAttack is an attack by a client of the viewer, with its expected response.
type pageAttack struct {
	name   string
	do     func(t *testing.T, page string) (sent, status int)
	memory int // MiB, maximum at the peak
}

func (a pageAttack) run(t *testing.T) {
	c, otlp, page := startPage(t, limitFor(a.memory))
	require.Equal(t, http.StatusOK, postOTLP(t, otlp+harness.ProfilesPath, hostileProfile(func(d *dict, p *profile) {
		for i := range 300_000 {
			s := sampleAt(p, 1)
			s.TimestampsUnixNano[1] += uint64(i)
			p.Samples = append(p.Samples, s)
		}
	})))
	begin := time.Now()
	sent, status := a.do(t, page)
	took := time.Since(begin)
	checkPage(t, otlp, page)
	reportAttack(t, c, sent, status, took, a.memory)
}

var pageAttacks = []pageAttack{
	{name: "50 concurrent downloads by clients that never read", memory: memoryLarge, do: func(t *testing.T, page string) (sent, status int) {
		const target = "/api/download/otlp?profile=1"
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				connection, err := net.Dial("tcp", page)
				if !assert.NoError(t, err) {
					return
				}
				defer connection.Close()
				fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target)
				time.Sleep(3 * time.Second)
			})
		}
		all.Wait()
		return 50 * len(target), http.StatusOK
	}},
	{name: "20 concurrent flame graphs", memory: memoryLarge, do: func(t *testing.T, page string) (sent, status int) {
		const target = "/api/flame?profile=1"
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				response, err := http.Get("http://" + page + target)
				if assert.NoError(t, err) {
					response.Body.Close()
					assert.Equal(t, http.StatusOK, response.StatusCode)
				}
			})
		}
		all.Wait()
		return 20 * len(target), http.StatusOK
	}},
	asked("a query string of 1 MB", "/api/flame?profile=1"+strings.Repeat("&profile=1", 100_000), http.StatusRequestHeaderFieldsTooLarge),
	asked("a request for 100 profiles", "/api/flame?profile=1"+strings.Repeat("&profile=1", 100), http.StatusBadRequest),
	asked("a search text of 450 kB", "/api/overview?service="+strings.Repeat("(a%2B)%2B", 50_000), http.StatusRequestHeaderFieldsTooLarge),
	asked("extreme numbers in a query", "/api/flame?profile=18446744073709551615&from=9223372036854775807&root=-1", http.StatusGone),
	asked("a path that leaves the root directory of the page", "/../../../../etc/passwd", http.StatusTemporaryRedirect),
	asked("a path that leaves the root directory of the page, percent-encoded", "/speedscope/..%2f..%2f..%2f..%2fetc%2fpasswd", http.StatusNotFound),
	asked("a path that leaves the download directory", "/api/download/..%2f..%2fetc%2fpasswd?profile=1", http.StatusNotFound),
	asked("a foreign Host header", "//attacker.example/api/overview", http.StatusMisdirectedRequest),
}

// asked returns an attack by one request. A target "//host/path" sets the Host header.
func asked(name, target string, status int) pageAttack {
	return pageAttack{name: name, memory: memoryLarge, do: func(t *testing.T, page string) (int, int) {
		host := "localhost"
		if rest, other := strings.CutPrefix(target, "//"); other {
			host, target, _ = strings.Cut(rest, "/")
			target = "/" + target
		}
		connection, err := net.Dial("tcp", page)
		require.NoError(t, err)
		defer connection.Close()
		go fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, url.PathEscape(host))
		got, err := harness.ReadResponse(connection, http.MethodGet)
		require.NoError(t, err)
		assert.Equal(t, status, got.Status, "%.500s", got.Body)
		assert.NotContains(t, got.Body, "root:")
		return len(target), got.Status
	}}
}
