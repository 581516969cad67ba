// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/otlpsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// list is JSON with an element many times.
type list struct{ format, before, element, after string }

// repeated returns the JSON with at most n elements, in at most 64 MiB.
func (l list) repeated(n int) []byte {
	n = min(n, (64<<20-len(l.before)-len(l.after))/len(l.element))
	return []byte(l.before + strings.TrimSuffix(strings.Repeat(l.element, n), ",") + l.after)
}

// mostMiB leaves a quarter of 1 GiB to the rest of a collector.
const mostMiB = 768

// TestHostileFiles: 64 MiB of empty elements are rejected; as many as the limits permit need a
// bounded memory.
func TestHostileFiles(t *testing.T) {
	testsize.NeedFull(t)
	const speedscope, cpuprofile, firefox = `{"$schema":"https://www.speedscope.app/file-format-schema.json",`, `{"nodes":[{"callFrame":{}}],`, `{"meta":{"preprocessedProfileVersion":1},`
	objects := map[string]int{Speedscope: maxSpeedscopeObjects, CPUProfile: maxCPUProfileObjects, Firefox: maxFirefoxObjects, OTLPJSON: maxOTLPObjects}
	for name, c := range map[string]list{
		"speedscope frames":   {Speedscope, speedscope + `"shared":{"frames":[`, `{},`, `]}}`},
		"speedscope events":   {Speedscope, speedscope + `"profiles":[{"events":[`, `{},`, `]}]}`},
		"speedscope samples":  {Speedscope, speedscope + `"profiles":[{"samples":[`, `[],`, `]}]}`},
		"speedscope profiles": {Speedscope, speedscope + `"profiles":[`, `{},`, `]}`},
		"speedscope numbers":  {Speedscope, speedscope + `"profiles":[{"weights":[`, `0,`, `]}]}`},
		"cpuprofile nodes":    {CPUProfile, `{"nodes":[{"callFrame":{}},`, `{},`, `]}`},
		"cpuprofile samples":  {CPUProfile, cpuprofile + `"samples":[`, `0,`, `]}`},
		"Firefox threads":     {Firefox, firefox + `"threads":[`, `{},`, `]}`},
		"Firefox nulls":       {Firefox, firefox + `"threads":[`, `null,`, `]}`},
		"Firefox categories":  {Firefox, `{"meta":{"preprocessedProfileVersion":1,"categories":[`, `null,`, `]}}`},
		"speedscope nulls":    {Speedscope, speedscope + `"profiles":[`, `null,`, `]}`},
		"cpuprofile nulls":    {CPUProfile, `{"nodes":[{"callFrame":{}},`, `null,`, `]}`},
		"OTLP nulls":          {OTLPJSON, `{"resourceSpans":[{"scopeSpans":[{"spans":[`, `null,`, `]}]}]}`},
		"OTLP points":         {OTLPJSON, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"exponentialHistogram":{"dataPoints":[`, `null,`, `]}}]}]}]}`},
		"OTLP metrics":        {OTLPJSON, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[`, `{},`, `]}]}]}`},
		"Firefox libs":        {Firefox, firefox + `"libs":[`, `0,`, `]}`},
		"Firefox stacks":      {Firefox, firefox + `"threads":[{"samples":{"stack":[`, `0,`, `]}}]}`},
		"Firefox strings":     {Firefox, firefox + `"threads":[{"stringArray":[`, `"",`, `]}]}`},
		"OTLP spans":          {OTLPJSON, `{"resourceSpans":[{"scopeSpans":[{"spans":[`, `{},`, `]}]}]}`},
		"OTLP resources":      {OTLPJSON, `{"resourceSpans":[`, `{},`, `]}`},
		"OTLP samples":        {OTLPJSON, `{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"samples":[`, `{},`, `]}]}]}]}`},
		"OTLP functions":      {OTLPJSON, `{"resourceProfiles":[],"dictionary":{"functionTable":[`, `{},`, `]}}`},
		"OTLP messages":       {OTLPJSON, `{"resourceSpans":[]}`, `{}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			data := c.repeated(64 << 20)
			format, err := Recognize(data)
			require.NoError(t, err)
			assert.Equal(t, c.format, format)
			_, err = Readers[c.format](data, importer.Options{})
			assert.ErrorContains(t, err, "are read", "rejected")
			limit := maxValues
			if strings.ContainsAny(c.element, "{[") || c.element == "null," && c.format != Firefox {
				limit = objects[c.format]
			}
			data = c.repeated(limit - 10)
			start := time.Now()
			peak, err := readPeak(c.format, data)
			took := time.Since(start)
			if err != nil {
				assert.NotContains(t, err.Error(), "are read", "within the limits")
			}
			t.Logf("%d MiB, %s, %v", peak>>20, took, err)
			assert.Less(t, peak>>20, uint64(mostMiB), "MiB")
		})
	}
}

// readPeak reads a file, and returns the peak of the heap meanwhile, in bytes. As in packaging/,
// GOMEMLIMIT is below the memory that there is. Without it, the peak would also depend on when a
// busy machine lets the garbage collector run.
func readPeak(format string, data []byte) (peak uint64, err error) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(mostMiB / 5 * 4 << 20))
	debug.FreeOSMemory()
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		var m runtime.MemStats
		for tick := time.Tick(20 * time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-tick:
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
			}
		}
	}()
	_, err = Readers[format](data, importer.Options{})
	close(done)
	<-stopped
	return peak, err
}

// dictionaryOfOne is a dictionary with one text, beside the profiles of a message.
var dictionaryOfOne = []byte{2<<3 | 2, 2, 5<<3 | 2, 0}

// TestHostileMessages: the same for messages of OTLP. Nested ones would exhaust the stack of the
// decoder, which ends the process.
func TestHostileMessages(t *testing.T) {
	testsize.NeedFull(t)
	const size = 64<<20 - 100
	for name, c := range map[string]struct {
		path    []protowire.Number
		element []byte
		packed  bool // a list of numbers
		beside  []byte
	}{
		"spans":            {path: []protowire.Number{1, 2, 2}},
		"resources":        {path: []protowire.Number{1}},
		"libraries":        {path: []protowire.Number{1, 1000, 2}},
		"log records":      {path: []protowire.Number{1, 2, 2}, element: []byte{6<<3 | 2, 0}},
		"list of values":   {path: []protowire.Number{1, 2, 2, 6, 2, 5, 1}},
		"profiles":         {path: []protowire.Number{1, 2, 2}, beside: dictionaryOfOne},
		"samples":          {path: []protowire.Number{1, 2, 2, 2}, element: []byte{4<<3 | 2, 1, 1}, beside: dictionaryOfOne},
		"values":           {path: []protowire.Number{1, 2, 2, 2, 4}, packed: true, beside: dictionaryOfOne},
		"texts":            {path: []protowire.Number{2, 5}},
		"locations":        {path: []protowire.Number{2, 2}, beside: dictionaryOfOne},
		"frames of stacks": {path: []protowire.Number{2, 7, 1}, packed: true, beside: dictionaryOfOne},
	} {
		t.Run(name, func(t *testing.T) {
			message := func(n int) []byte {
				last := len(c.path) - 1
				content := bytes.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, c.path[last], protowire.BytesType), c.element), n)
				if c.packed {
					content = protowire.AppendBytes(protowire.AppendTag(nil, c.path[last], protowire.BytesType), bytes.Repeat([]byte{1}, n))
				}
				for _, number := range slices.Backward(c.path[:last]) {
					content = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
				}
				return append(content, c.beside...)
			}
			one := len(message(2000)) - len(message(1000))
			most := size * 1000 / one
			n, limited := most, false
			for {
				start := time.Now()
				peak, err := readPeak(OTLPProto, message(n))
				if limited = limited || errors.Is(err, errNoContent); !errors.Is(err, otlpsize.ErrLimit) {
					t.Logf("%d of %d: %d MiB, %s, %v", n, most, peak>>20, time.Since(start), err)
					assert.Less(t, peak>>20, uint64(mostMiB), "MiB")
					break
				}
				limited = true
				var needed int
				_, scanErr := fmt.Sscanf(strings.TrimPrefix(err.Error(), otlpsize.ErrLimit.Error()), ": it needs %d MiB", &needed)
				require.NoError(t, scanErr)
				n = n / (needed + 1) * (otlpsize.Max >> 20) // about the largest that is accepted
			}
			assert.True(t, limited, "64 MiB are rejected")
		})
	}
}

// TestNestedMessage: the decoder would exhaust its stack, which ends the process.
func TestNestedMessage(t *testing.T) {
	message, at := make([]byte, 20<<20), 20<<20 // filled from the end
	enclose := func(numbers ...protowire.Number) {
		for _, number := range numbers {
			head := protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.BytesType), uint64(len(message)-at))
			at -= copy(message[at-len(head):], head)
		}
	}
	for at > 100 {
		enclose(1, 5)
	}
	enclose(2, 6, 2, 2, 1) // value, attribute, log record, scope, resource
	_, err := Readers[OTLPProto](message[at:], importer.Options{})
	assert.ErrorIs(t, err, otlpsize.ErrLimit)
	assert.ErrorContains(t, err, "levels deep")
}

// TestHostilePprof: the same for pprof, whose decoder needs up to 250 bytes for an empty message.
func TestHostilePprof(t *testing.T) {
	testsize.NeedFull(t)
	for name, c := range map[string]func(n int) []byte{
		"samples": func(n int) []byte { return bytes.Repeat([]byte{2<<3 | 2, 0}, n/2) },
		"labels":  func(n int) []byte { return enclosed(2, bytes.Repeat([]byte{3<<3 | 2, 0}, n/2)) },
		"lines": func(n int) []byte {
			return enclosed(4, append([]byte{1 << 3, 1}, bytes.Repeat([]byte{4<<3 | 2, 0}, n/2)...))
		},
		"texts": func(n int) []byte { return bytes.Repeat([]byte{6<<3 | 2, 0}, n/2) },
		"frames": func(n int) []byte {
			return append(oneLocation, enclosed(2, enclosed(1, bytes.Repeat([]byte{1}, n)))...)
		},
		"many values": func(n int) []byte {
			sample := enclosed(2, enclosed(2, bytes.Repeat([]byte{1}, 1000)))
			return append(append(bytes.Repeat([]byte{1<<3 | 2, 0}, 1000), 6<<3|2, 0), bytes.Repeat(sample, (n-2002)/len(sample))...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := 64<<20 - 100
			_, err := Readers[Pprof](c(n), importer.Options{})
			_, limit, limited := strings.Cut(fmt.Sprint(err), "it needs ")
			require.True(t, limited, "64 MiB are rejected")
			for limited {
				var needed, most int
				_, scanErr := fmt.Sscanf(limit, "%d MiB of memory to be read, more than %d", &needed, &most)
				require.NoError(t, scanErr)
				n = n / (needed + 1) * most // about the largest that is accepted
				start := time.Now()
				peak, err := readPeak(Pprof, c(n))
				t.Logf("%d bytes: %d MiB, %s, %v", n, peak>>20, time.Since(start), err)
				assert.Less(t, peak>>20, uint64(mostMiB), "MiB")
				_, limit, limited = strings.Cut(fmt.Sprint(err), "it needs ")
			}
		})
	}
}

// oneLocation are a type of values and a location with ID 1.
var oneLocation = []byte{1<<3 | 2, 0, 6<<3 | 2, 0, 4<<3 | 2, 2, 1 << 3, 1}

func enclosed(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

// TestHostileEnvelopes: items have their own limits, which are those of the receiver; envelopes of
// 64 MiB have many items.
func TestHostileEnvelopes(t *testing.T) {
	testsize.NeedFull(t)
	const chunk = `{"version":"2","platform":"python","profiler_id":"0123456789abcdef0123456789abcdef","chunk_id":"0123456789abcdef0123456789abcdef","profile":{"frames":[{"function":"f"}],"stacks":[[0]],"samples":[%s],"thread_metadata":{}}}`
	for name, c := range map[string]struct{ kind, payload, element string }{
		"threads": {"profile_chunk", chunk, `{"timestamp":1,"thread_id":%d,"stack_id":0}`},
		"logs":    {"log", `{"version":2,"items":[%s]}`, `{"timestamp":1700000000,"trace_id":"0123456789abcdef0123456789abcdef","level":"info","body":"%d"}`},
		"spans":   {"span", `{"version":2,"items":[%s]}`, `{"trace_id":"0123456789abcdef0123456789abcdef","span_id":"0123456789abcdef","name":"%d","start_timestamp":1,"end_timestamp":2,"status":"ok"}`},
		"metrics": {"trace_metric", `{"version":2,"items":[%s]}`, `{"timestamp":1,"trace_id":"0123456789abcdef0123456789abcdef","name":"m%d","type":"counter","value":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, perItem := range []int{100, 10_000, 500_000} {
				envelope := []byte("{}\n")
				for len(envelope) < 60<<20 {
					var elements []byte
					for i := range perItem {
						if len(envelope)+len(elements) > 62<<20 {
							break
						}
						elements = append(fmt.Appendf(elements, c.element, i), ',')
					}
					payload := fmt.Sprintf(c.payload, bytes.TrimSuffix(elements, []byte(",")))
					envelope = fmt.Appendf(envelope, "{\"type\":%q,\"length\":%d,\"item_count\":%d}\n%s\n", c.kind, len(payload), perItem, payload)
				}
				start := time.Now()
				peak, err := readPeak(Sentry, envelope)
				t.Logf("%d: %d MiB, %s, %v", perItem, peak>>20, time.Since(start), err)
				assert.Less(t, peak>>20, uint64(mostMiB), "MiB")
			}
		})
	}
}
