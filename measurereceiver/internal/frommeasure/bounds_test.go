// SPDX-License-Identifier: Apache-2.0

package frommeasure_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/frommeasure"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// maxMeasureRatio is how many times the size of a batch its OTLP may have, as marshalled, all
// signals together. The most is that of empty frames, each of which is a line of the stack trace
// and one of the unit's.
const maxMeasureRatio = 8

// shortest are the smallest batches that make the most of their bytes.
var shortest = map[string]string{
	"items that are none":  `{"events":[` + repeat("{}", 20_000) + `]}`,
	"spans that are none":  `{"spans":[` + repeat("{}", 20_000) + `]}`,
	"units":                shortEvent("exception", `{"framework":"js","exceptions":[`+repeat("{}", 19_000)+`]}`),
	"frames":               shortEvent("exception", `{"framework":"js","exceptions":[{"frames":[`+repeat("{}", 19_000)+`]}]}`),
	"frames that are kept": shortEvent("exception", `{"framework":"js","exceptions":[{"frames":[`+repeat("{}", 1000)+`]}]}`),
	"frames of an address": shortEvent("exception", `{"framework":"apple","threads":[{}],"exceptions":[{"frames":[`+repeat("{}", 1000)+`]}]}`),
	"threads":              shortEvent("exception", `{"framework":"js","exceptions":[{}],"threads":[`+repeat("{}", 19_000)+`]}`),
	"list in unknown":      shortEvent("x", `{"a":[`+repeat("1", 19_000)+`]}`),
	"lists in unknown":     shortEvent("x", `{"a":[`+repeat("[]", 9_000)+`]}`),
	"members of unknown":   shortEvent(strings.Repeat("x", 32), `{`+members(128, "1")+`}`),
	"objects in unknown":   shortEvent("x", `{"a":[`+repeat("{"+members(100, "1")+"}", 1000)+`]}`),
	"headers":              shortEvent("http", `{"url":"u","method":"x","response_headers":{`+members(128, `""`)+`}}`),
	"user attributes":      shortEvent("session_start", `{},"user_defined_attribute":{`+members(100, `1`)+`}`),
	"redacted":             shortEvent("http", `{"method":"x","url":"http://a/?`+strings.Repeat("sig=&", 10_000)+`"}`),
	"resources": `{"events":[` + each(1000, func(i int) string {
		return shortItem(i, "low_memory", `{"java_max_heap":1,"java_total_heap":9,"java_free_heap":1,"total_pss":1,"rss":1,"native_total_heap":1,"native_free_heap":1}`)
	}) + `]}`,
}

func each(n int, item func(i int) string) string {
	var all []string
	for i := range n {
		all = append(all, item(i))
	}
	return strings.Join(all, ",")
}

func repeat(text string, n int) string { return each(n, func(int) string { return text }) }

func members(n int, value string) string {
	return each(n, func(i int) string { return fmt.Sprintf(`"%x":%s`, i, value) })
}

func shortEvent(kind, payload string) string {
	return `{"events":[` + shortItem(1, kind, payload) + `]}`
}

// shortItem returns an event with no more than the rules ask for, under a resource of its own.
func shortItem(i int, kind, payload string) string {
	return fmt.Sprintf(`{"id":"3c0a4e1e-7d51-4d7f-8f3e-%012d","timestamp":"2026-08-01T10:00:00Z","type":%q,%q:%s,"attribute":{"installation_id":"6e1f6b6e-2f0a-4c53-9d0a-0b7f5b1f2c31",`+
		`"app_version":"%d","app_build":"2","app_unique_id":"c","measure_sdk_version":"0","os_name":"ios","network_type":"wifi","network_generation":"2g"}}`, i, kind, kind, payload, i)
}

// TestMeasureShortest: a batch of the shortest elements there are becomes no more than
// maxMeasureRatio times as much, and what it takes in memory until then has been asked for.
func TestMeasureShortest(t *testing.T) {
	for name, body := range shortest {
		before := liveHeap()
		reserved := int64(64 << 10) // for less, decoding does not ask
		b, err := measure.DecodeJSON([]byte(body), func(bytes int64) error { reserved += bytes; return nil })
		require.NoError(t, err)
		_ = b.Validate(measure.Lenient)
		metrics, _ := frommeasure.ToMetrics(b.Events, measureSource)
		logs, traces := frommeasure.ToLogs(b.Events, measureSource), frommeasure.ToTraces(b.Spans, b.Events, measureSource)
		live := liveHeap() - before
		size := outputSize(logs, metrics, traces)
		t.Logf("%s: %d bytes, %.1f times as many live, %.1f reserved, OTLP of %.1f", name, len(body), float64(live)/float64(len(body)),
			float64(reserved)/float64(len(body)), float64(size)/float64(len(body)))
		const noise = 128 << 10 // of what other tests have left in pools
		assert.LessOrEqual(t, live, int64(len(body))+reserved+noise, name)
		assert.LessOrEqual(t, size, maxMeasureRatio*len(body), name)
		runtime.KeepAlive(b)
	}
}

func liveHeap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // pools keep what they had for one
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func outputSize(logs plog.Logs, metrics pmetric.Metrics, traces ptrace.Traces) int {
	return (&plog.ProtoMarshaler{}).LogsSize(logs) + (&pmetric.ProtoMarshaler{}).MetricsSize(metrics) + (&ptrace.ProtoMarshaler{}).TracesSize(traces)
}

// place is a value in the JSON of a batch that a test replaces.
type place struct {
	name string // path with the type of the item, without indices
	set  func(any)
	was  any
}

// placesIn visits every value below v.
func placesIn(v any, name string, visit func(place)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			visit(place{name + "." + key, func(other any) { v[key] = other }, v[key]})
			placesIn(v[key], name+"."+key, visit)
		}
	case []any:
		for i := range v {
			visit(place{name + "[]", func(other any) { v[i] = other }, v[i]})
			placesIn(v[i], name+"[]", visit)
		}
	}
}

// many returns a list or object with n more members, the last one repeated.
func many(v any, n int) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			return append(slices.Clone(v), slices.Repeat([]any{plainCopy(v[len(v)-1])}, n)...)
		}
	case map[string]any:
		v = maps.Clone(v)
		for i := range n {
			v[fmt.Sprint("k", i)] = "x"
		}
		return v
	}
	return nil
}

// plainCopy copies a value of JSON, in which each long text becomes a short one.
func plainCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		other := map[string]any{}
		for key, value := range v {
			other[key] = plainCopy(value)
		}
		return other
	case []any:
		other := []any{}
		for _, value := range v {
			other = append(other, plainCopy(value))
		}
		return other
	case string:
		return v[:min(len(v), 64)]
	}
	return v
}

// measureOutput returns the marshalled size of what becomes of a batch.
func measureOutput(t *testing.T, body []byte) int {
	b, err := measure.DecodeJSON(body, nil)
	require.NoError(t, err)
	if b.Validate(measure.Lenient) != nil {
		return 0
	}
	src := measureSource
	src.HTTPBodies, src.SessionOnMetrics, src.ServiceName, src.Environment, src.UserPrefix = true, true, "shop", "prod", "app."
	metrics, _ := frommeasure.ToMetrics(b.Events, src)
	return outputSize(frommeasure.ToLogs(b.Events, src), metrics, frommeasure.ToTraces(b.Spans, b.Events, src))
}

// isOpen reports whether an object may have any members, and not only fields of the model.
func isOpen(name string) bool {
	for _, end := range []string{"user_defined_attribute", "meta", "_headers", ".hologram"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// TestMeasureOneLongManyShort: for each text and each list of an item, one long text beside many
// list elements, or beside many items, becomes no more than maxMeasureRatio times as much.
func TestMeasureOneLongManyShort(t *testing.T) {
	const textSize, elements = 16 << 10, 25
	seen, worst, worstName := map[string]bool{}, 0.0, ""
	try := func(name, list string, items []any) {
		body, err := json.Marshal(map[string]any{list: items})
		require.NoError(t, err)
		ratio := float64(measureOutput(t, body)) / float64(len(body))
		if ratio > worst {
			worst, worstName = ratio, name
		}
		assert.LessOrEqual(t, ratio, float64(maxMeasureRatio), name)
	}
	for _, c := range golden.MeasureCases(t) {
		var batch map[string][]map[string]any
		require.NoError(t, json.Unmarshal([]byte(c.Read(t, "in.json")), &batch), c.Name)
		for _, list := range slices.Sorted(maps.Keys(batch)) {
			items := batch[list]
			for _, item := range items {
				kind, _ := item["type"].(string)
				var texts, lists []place
				placesIn(item, list+" "+kind, func(p place) {
					_, isObject := p.was.(map[string]any)
					if _, isText := p.was.(string); isText {
						texts = append(texts, p)
					} else if many(p.was, 1) != nil && (!isObject || isOpen(p.name)) {
						lists = append(lists, p)
					}
				})
				for _, text := range texts {
					once := func(other string, items func() []any) {
						name := text.name + " × " + other
						if _, attribute, is := strings.Cut(text.name, ".attribute"); is && other == "items" {
							name = attribute // the same of every type
						}
						if !seen[name] {
							seen[name] = true
							if !testsize.Full() && len(seen)%4 != 0 {
								return // the small size has every fourth pair
							}
							try(name, list, items())
						}
					}
					text.set(strings.Repeat("x", textSize))
					for _, l := range lists {
						once(l.name, func() []any {
							defer l.set(l.was)
							l.set(many(l.was, elements))
							return []any{plainLong(item)}
						})
					}
					once("items", func() []any { return manyItems(item, text, elements) })
					text.set(text.was)
				}
			}
		}
	}
	require.Greater(t, len(seen), 500)
	t.Logf("%d pairs, at most %.1f times: %s", len(seen), worst, worstName)
}

// manyItems returns an item and n copies of it that have ids of their own and a short text.
func manyItems(item map[string]any, text place, n int) []any {
	all := []any{plainLong(item)}
	text.set(text.was)
	for i := range n {
		other := plainCopy(item).(map[string]any)
		if _, is := other["id"]; is {
			other["id"] = fmt.Sprintf("3c0a4e1e-7d51-4d7f-8f3e-%012d", i)
		} else {
			other["span_id"] = fmt.Sprintf("%016x", i+1)
		}
		all = append(all, other)
	}
	return all
}

// plainLong copies a value of JSON as it is.
func plainLong(v map[string]any) (other map[string]any) {
	text, _ := json.Marshal(v)
	_ = json.Unmarshal(text, &other)
	return other
}

// TestMeasureLimits: the limits of docs/measure.md, each exceeded by one.
func TestMeasureLimits(t *testing.T) {
	of := func(e measure.Event) pcommon.Map {
		return frommeasure.ToLogs([]measure.Event{e}, measureSource).ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes()
	}
	length := func(attrs pcommon.Map, key string) int {
		list, ok := attrs.Get(key)
		require.True(t, ok, key)
		return list.Slice().Len()
	}
	number := func(attrs pcommon.Map, key string) int64 { n, _ := attrs.Get(key); return n.Int() }
	text := func(attrs pcommon.Map, key string) string { text, _ := attrs.Get(key); return text.AsString() }

	crash := &measure.Exception{Threads: make([]measure.Thread, 257), BinaryImages: make([]measure.BinaryImage, 513)}
	for range 65 {
		crash.Exceptions = append(crash.Exceptions, measure.ExceptionUnit{Type: "E", Frames: make([]measure.Frame, 16)}) // 1024 in the first 64
	}
	attrs := of(measure.Event{Type: measure.TypeException, Exception: crash})
	assert.Equal(t, 64, length(attrs, "measure.exception.units"))
	assert.Equal(t, 256, length(attrs, "measure.exception.threads"))
	assert.Equal(t, 512, length(attrs, "measure.exception.binary_images"))
	frames, units := 0, attrs.AsRaw()["measure.exception.units"].([]any)
	for _, unit := range units {
		list, _ := unit.(map[string]any)["frames"].([]any)
		frames += len(list)
	}
	assert.Equal(t, 1000, frames)
	assert.EqualValues(t, 1+24+1+1, number(attrs, "measure.exception.parts_dropped"))

	attrs = of(measure.Event{Type: measure.TypeAppExit, AppExit: &measure.AppExit{Reason: "ANR", Trace: strings.Repeat("x", 256<<10+1)}})
	assert.Len(t, text(attrs, "measure.app_exit.trace"), 256<<10)
	assert.EqualValues(t, 256<<10+1, number(attrs, "measure.app_exit.trace_bytes"))

	members := map[string]int{}
	for i := range 129 {
		members[fmt.Sprint("k", i)] = i
	}
	unknown, err := json.Marshal(members)
	require.NoError(t, err)
	attrs = of(measure.Event{Type: "hologram", Unknown: unknown})
	assert.EqualValues(t, 1, number(attrs, "measure.fields_dropped"))
	kept := 0
	for key := range attrs.All() {
		if strings.HasPrefix(key, "measure.hologram.") {
			kept++
		}
	}
	assert.Equal(t, 128, kept)

	src := measureSource
	src.HTTPBodies = true
	request := &measure.HTTP{URL: "https://api.example.com/", Method: "get", RequestBody: strings.Repeat("x", 4<<10+1), ResponseBody: strings.Repeat("y", 4<<10+1)}
	span := frommeasure.ToTraces(nil, []measure.Event{{Type: measure.TypeHTTP, HTTP: request}}, src)
	attrs = span.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes()
	assert.Len(t, text(attrs, "http.request.body.content"), 4<<10)
	assert.Len(t, text(attrs, "http.response.body.content"), 4<<10)
}
