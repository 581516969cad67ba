// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Output is bounded by input: see "Bounds" in doc.go. The test makes one text long and one list
// long, for all pairs of both in each item type: a text that is copied for each element of a list
// is then as large as both multiplied.

const (
	longText = 5_000 // beyond every limit on texts
	longList = 100
)

// boundItem is an item type with a payload that has every field, and at least one element in every
// list.
type boundItem struct {
	name    string
	payload string
	size    func(payload []byte, src Source) (marshalled int)
}

const (
	boundTrace = `"trace_id":"53295a878b574a5665399b12b6f1d7fb"`
	boundTimes = `"start_timestamp":1777629600,"timestamp":1777629601`
	boundEvent = `"event_id":"x","timestamp":1777629601,"platform":"python","level":"l","logger":"l","transaction":"t","server_name":"s",
		"release":"shop@1","dist":"d","environment":"e","sdk":{"name":"n","version":"v"},
		"logentry":{"formatted":"f","message":"m","params":["p"]},
		"fingerprint":["f"],"modules":{"m":"1"},"tags":{"k":"v"},"extra":{"k":{"k":["v"]}},"user":{"id":"u","email":"e","k":"v"},
		"request":{"url":"u","method":"m","query_string":"q","fragment":"f","headers":{"h":"v"},"cookies":"c","env":{"e":"v"},"data":["d"]},
		"breadcrumbs":[{"timestamp":1,"type":"t","category":"c","level":"l","message":"m","event_id":"e","data":{"k":"v"}}]`
	boundStack   = `{"frames":[{"function":"f","module":"m","filename":"f","abs_path":"a","package":"p","platform":"java","pre_context":["c"],"vars":{"v":"v"}}],"registers":{"r":"1"}}`
	boundSpan    = `"op":"o","description":"d","status":"s","origin":"o","profile_id":"p","profiler_id":"p","data":{"thread.id":"t","thread.name":"n","k":["v"]},"tags":{"k":"v"},"measurements":{"m":{"value":1,"unit":"u"}},"links":[{` + boundTrace + `,"span_id":"65b086720141d1a8","attributes":{"k":"v"}}]`
	boundSampled = `"frames":[{"function":"f","module":"m","filename":"f","abs_path":"a","package":"p","platform":"java"},{"instruction_addr":"0x11"}],
		"stacks":[[0,1]],"thread_metadata":{"1":{"name":"n"}},"queue_metadata":{"0xa":{"label":"l"}}`
	boundImages = `"debug_meta":{"images":[{"type":"elf","code_file":"f","code_id":"c","debug_file":"f","debug_id":"d","uuid":"u","arch":"a","image_addr":"0x10","image_size":16}]}`
	boundTyped  = `"attributes":{"sentry.release":{"type":"string","value":"r"},"sentry.environment":{"type":"string","value":"e"},
		"sentry.sdk.name":{"type":"string","value":"n"},"sentry.profiler_id":{"type":"string","value":"p"},"thread.id":{"type":"string","value":"t"},
		"k":{"type":"string","value":"v","unit":"u"}}`
)

var boundItems = []boundItem{
	{"profile", `{"version":"1","event_id":"x","platform":"cocoa","timestamp":"2026-05-01T10:00:00Z","release":"shop@1","dist":"d","environment":"e",
		"device":{"architecture":"a","model":"m"},"os":{"name":"n","version":"v"},"runtime":{"name":"n","version":"v"},` + boundImages + `,
		"transactions":[{"id":"x","name":"n","trace_id":"t","segment_id":"s","active_thread_id":"1"}],
		"measurements":{"m":{"unit":"u","values":[{"elapsed_since_start_ns":1,"value":1}]}},
		"profile":{"samples":[{"elapsed_since_start_ns":1,"thread_id":"1","stack_id":0,"queue_address":"0xa"}],` + boundSampled + `}}`,
		func(payload []byte, src Source) int {
			d := profile.AcquireDecoder()
			defer d.Release()
			p, err := d.Profile(payload)
			if err != nil {
				return 0
			}
			return profilesSize(ProfileToProfiles(p, src)) + metricsSize(ProfileMeasurementsToMetrics(p, src))
		}},
	{"profile_chunk", `{"version":"2","profiler_id":"x","chunk_id":"y","platform":"cocoa","release":"shop@1","dist":"d","environment":"e",
		"client_sdk":{"name":"n","version":"v"},` + boundImages + `,"measurements":{"m":{"unit":"u","values":[{"timestamp":1,"value":1}]}},
		"profile":{"samples":[{"timestamp":1777629600.5,"thread_id":"1","stack_id":0}],` + boundSampled + `}}`,
		func(payload []byte, src Source) int {
			d := profile.AcquireDecoder()
			defer d.Release()
			c, err := d.Chunk(payload)
			if err != nil {
				return 0
			}
			metrics, _ := ChunkMeasurementsToMetrics(c, src)
			return profilesSize(ChunkToProfiles(c, src)) + metricsSize(metrics)
		}},
	{"transaction", `{"type":"transaction",` + boundTimes + `,` + boundEvent + `,"transaction_info":{"source":"s"},"measurements":{"m":{"value":1,"unit":"u"}},
		"contexts":{"trace":{` + boundTrace + `,"span_id":"0000000000000001",` + boundSpan + `},"profile":{"profiler_id":"p","profile_id":"p"},
			"response":{"headers":{"h":"v"}},"device":{"arch":"a"},"os":{"name":"n"},"k":{"k":["v"]}},
		"spans":[{` + boundTrace + `,"span_id":"0000000000000002",` + boundTimes + `,` + boundSpan + `},{` + boundTrace + `,"span_id":"0000000000000003",` + boundTimes + `}]}`,
		func(payload []byte, src Source) int {
			t, err := event.DecodeTransaction(payload)
			if err != nil {
				return 0
			}
			return tracesSize(TransactionToTraces(t, src))
		}},
	{"span", `{` + boundTrace + `,"span_id":"0000000000000002",` + boundTimes + `,` + boundSpan + `}`, func(payload []byte, src Source) int {
		s, _, err := event.DecodeSpan(payload)
		if err != nil {
			return 0
		}
		return tracesSize(SpanToTraces(s, src))
	}},
	{"span container", `{"version":2,"items":[{` + boundTrace + `,"span_id":"0000000000000002","start_timestamp":1,"end_timestamp":2,"name":"n","status":"s",` + boundTyped +
		`,"links":[{` + boundTrace + `,"span_id":"65b086720141d1a8",` + boundTyped + `}]}]}`, func(payload []byte, src Source) int {
		c, err := event.DecodeSpans(payload, jsonscan.Optional[int]{})
		if err != nil {
			return 0
		}
		return tracesSize(SpansToTraces(c, src))
	}},
	{"log", `{"version":2,"items":[{"timestamp":1777629601,` + boundTrace + `,"level":"l","body":"b",` + boundTyped + `}]}`, func(payload []byte, src Source) int {
		c, err := event.DecodeLogs(payload, jsonscan.Optional[int]{})
		if err != nil {
			return 0
		}
		return logsSize(LogsToLogs(c, src))
	}},
	{"trace_metric", `{"version":2,"items":[{"timestamp":1777629601,` + boundTrace + `,"name":"n","type":"distribution","value":1,"unit":"u",` + boundTyped + `},
		{"name":"n","type":"gauge","value":1}]}`, func(payload []byte, src Source) int {
		c, err := event.DecodeTraceMetrics(payload, jsonscan.Optional[int]{})
		if err != nil {
			return 0
		}
		return metricsSize(traceMetrics(c, src))
	}},
	{"event", `{` + boundEvent + `,"exception":{"values":[{"type":"t","value":"v","module":"m","thread_id":"1","mechanism":{"type":"t","data":{"k":"v"}},"stacktrace":` + boundStack + `}]},
		"threads":{"values":[{"id":"1","name":"n","state":"s","held_locks":{"k":"v"},"stacktrace":` + boundStack + `}]},
		"contexts":{"trace":{` + boundTrace + `,"span_id":"0000000000000001","op":"o","data":{"k":"v"}},"response":{"headers":{"h":"v"}},"device":{"arch":"a"},"k":{"k":["v"]}}}`,
		func(payload []byte, src Source) int {
			e, err := event.DecodeEvent(payload)
			if err != nil {
				return 0
			}
			return logsSize(EventToLogs(e, src)) + logsSize(FeedbackToLogs(e, src))
		}},
	{"check_in", `{"check_in_id":"c","monitor_slug":"m","status":"ok","duration":1,"platform":"p","release":"r","environment":"e","server_name":"s",
		"sdk":{"name":"n","version":"v"},"monitor_config":{"schedule":{"type":"crontab","value":"v"},"k":["v"]}}`, func(payload []byte, src Source) int {
		c, err := event.DecodeCheckIn(payload)
		if err != nil {
			return 0
		}
		return logsSize(CheckInToLogs(c, src)) + metricsSize(CheckInToMetrics(c, src))
	}},
	{"session", `{"sid":"s","init":true,"started":1,"timestamp":2,"duration":1,"status":"abnormal","abnormal_mechanism":"a","attrs":{"release":"r","environment":"e"}}`,
		func(payload []byte, src Source) int {
			s, err := event.DecodeSession(payload)
			if err != nil {
				return 0
			}
			return metricsSize(SessionToMetrics(s, src))
		}},
	{"sessions", `{"aggregates":[{"started":1777629600,"exited":1,"errored":1,"abnormal":1,"crashed":1,"unhandled":1}],"attrs":{"release":"r","environment":"e"}}`,
		func(payload []byte, src Source) int {
			s, err := event.DecodeSessions(payload)
			if err != nil {
				return 0
			}
			return metricsSize(SessionsToMetrics(s, src))
		}},
	{"client_report", `{"timestamp":1777629600,"discarded_events":[{"reason":"r","category":"c","quantity":1}],"rate_limited_events":[{"reason":"r","category":"c","quantity":1}]}`,
		func(payload []byte, src Source) int {
			r, err := event.DecodeClientReport(payload)
			if err != nil {
				return 0
			}
			return metricsSize(ClientReportToMetrics(r, src))
		}},
	{"user_report", `{"event_id":"e","name":"n","email":"e","comments":"c"}`, func(payload []byte, src Source) int {
		r, err := event.DecodeUserReport(payload)
		if err != nil {
			return 0
		}
		return logsSize(UserReportToLogs(r, src))
	}},
}

func profilesSize(out pprofile.Profiles) int { return new(pprofile.ProtoMarshaler).ProfilesSize(out) }
func tracesSize(out ptrace.Traces) int       { return new(ptrace.ProtoMarshaler).TracesSize(out) }
func logsSize(out plog.Logs) int             { return new(plog.ProtoMarshaler).LogsSize(out) }
func metricsSize(out pmetric.Metrics) int    { return new(pmetric.ProtoMarshaler).MetricsSize(out) }

func TestOneLongManyShort(t *testing.T) {
	for _, item := range boundItems {
		t.Run(item.name, func(t *testing.T) {
			t.Parallel()
			require.Positive(t, item.size([]byte(item.payload), boundSource()))
			texts, lists := places(t, item.payload)
			worst, worstPair := 0.0, ""
			try := func(payload []byte, src Source, text, list string) {
				out := item.size(payload, src)
				if ratio := float64(out) / float64(len(payload)+attr.MaxOverhead); ratio > worst {
					worst, worstPair = ratio, text+" × "+list
				}
				if out > attr.MaxGrowth*len(payload)+attr.MaxOverhead {
					t.Errorf("long %s, many %s: %d bytes become %d", text, list, len(payload), out)
				}
			}
			// Thousands of pairs take seconds: the small size has some pairs of each text and list.
			sources := longSources()
			skipped := func(i, j int) bool { return !testsize.Full() && (i+j)%16 != 0 }
			for i, list := range append([]string{""}, lists...) {
				grown := many(t, item.payload, list)
				for j, text := range append([]string{""}, texts...) {
					if !skipped(i, j) {
						try(grown.with(t, text), boundSource(), text, list)
					}
				}
				for j, source := range sources {
					if !skipped(4*i, 4*j) {
						try(grown.with(t, ""), source.Source, source.name+" of the envelope", list)
					}
				}
			}
			t.Logf("%d texts, %d lists; at most %.1f times the input: %s", len(texts), len(lists), worst, worstPair)
		})
	}
}

func boundSource() Source {
	return Source{ProjectID: "42", PeriodType: "wall", ReceivedNano: 1_777_629_600_000_000_000, ClockDriftMilli: 4_000_000, IncludePII: true}
}

// longSource is a source with one long text: the text is copied for each item of its envelope.
type longSource struct {
	name string
	Source
}

func longSources() (sources []longSource) {
	long := strings.Repeat("x", longText)
	for _, text := range []struct {
		name string
		set  func(*Source)
	}{
		{"sdk.name", func(s *Source) { s.SDK.Name = long }},
		{"sdk.version", func(s *Source) { s.SDK.Version = long }},
		{"trace.release", func(s *Source) { s.Release = "shop@" + long }},
		{"trace.environment", func(s *Source) { s.Environment = long }},
		{"profile id", func(s *Source) { s.ProfileID = long }},
	} {
		src := longSource{text.name, boundSource()}
		text.set(&src.Source)
		sources = append(sources, src)
	}
	return sources
}

// places names the texts and the lists of a payload by their paths. An object whose keys are the
// sender's is a list too, of members: those with one member here, and two kinds that have keys with
// a meaning as well.
func places(t *testing.T, payload string) (texts, lists []string) {
	var document any
	require.NoError(t, json.Unmarshal([]byte(payload), &document))
	walk(document, "$", func(path string, value any) any {
		switch all := value.(type) {
		case string:
			texts = append(texts, path)
		case []any:
			lists = append(lists, path)
		case map[string]any:
			texts = append(texts, path+"#") // its first key
			if len(all) == 1 || strings.HasSuffix(path, ".attributes") || strings.HasSuffix(path, ".data") {
				lists = append(lists, path)
			}
		}
		return value
	})
	slices.Sort(texts)
	slices.Sort(lists)
	return texts, lists
}

// grown is a payload that has many copies of the last element of a list behind it.
type grown struct {
	document any
	lengthen map[string]func() (undo func()) // by the path of a text
}

func many(t *testing.T, payload, list string) *grown {
	g := &grown{lengthen: map[string]func() func(){}}
	require.NoError(t, json.Unmarshal([]byte(payload), &g.document))
	g.document = walk(g.document, "$", func(path string, value any) any {
		if path != list {
			return value
		}
		switch all := value.(type) {
		case []any:
			for i := range longList {
				all = append(all, numberedCopy(all[len(all)-1], i))
			}
			return all
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(all))[:1] {
				for i := range longList {
					all[fmt.Sprintf("%s%d", key, i)] = clone(all[key])
				}
			}
			return all
		}
		return value
	})
	g.find(g.document, "$", func(value any) { g.document = value })
	return g
}

// find adds the texts of a value, which set replaces. The first key of an object is a text too.
func (g *grown) find(value any, path string, set func(any)) {
	switch v := value.(type) {
	case string:
		g.lengthen[path] = func() func() {
			set(v + strings.Repeat("x", longText))
			return func() { set(v) }
		}
	case []any:
		for i := range v {
			g.find(v[i], path+"."+strconv.Itoa(i), func(value any) { v[i] = value })
		}
	case map[string]any:
		for key := range v {
			g.find(v[key], path+"."+key, func(value any) { v[key] = value })
		}
		g.lengthen[path+"#"] = func() func() {
			key := slices.Min(slices.Collect(maps.Keys(v)))
			long := key + strings.Repeat("x", longText)
			v[long] = v[key]
			return func() { delete(v, long) }
		}
	}
}

// with returns the payload with a long text at a path, or without one if the path is empty.
func (g *grown) with(t *testing.T, text string) []byte {
	if text != "" {
		require.Contains(t, g.lengthen, text)
		defer g.lengthen[text]()()
	}
	out, err := json.Marshal(g.document)
	require.NoError(t, err)
	return out
}

// numberedCopy differs from the element in its numbers and ids, as equal elements may become one.
func numberedCopy(element any, number int) any {
	return walk(clone(element), "$", func(path string, value any) any {
		switch {
		case strings.HasSuffix(path, ".span_id"):
			return fmt.Sprintf("%016x", number+16)
		case strings.HasSuffix(path, ".started"):
			return float64(1777629600 + number)
		case strings.HasSuffix(path, ".name") && value == "n":
			return "n" + strconv.Itoa(number)
		}
		return value
	})
}

func clone(value any) any {
	switch v := value.(type) {
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = clone(v[i])
		}
		return v
	case map[string]any:
		v = maps.Clone(v)
		for key := range v {
			v[key] = clone(v[key])
		}
		return v
	}
	return value
}

// walk replaces every value of a document by what visit makes of it.
func walk(value any, path string, visit func(path string, value any) any) any {
	value = visit(path, value)
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = walk(v[i], path+"."+strconv.Itoa(i), visit)
		}
	case map[string]any:
		for key := range v {
			v[key] = walk(v[key], path+"."+key, visit)
		}
	}
	return value
}
