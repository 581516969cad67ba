// SPDX-License-Identifier: Apache-2.0

package otlpsize

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// signals has the messages with their decoders.
var signals = map[string]struct {
	message *Message
	decode  func([]byte) (any, error)
}{
	"traces":   {Traces, func(b []byte) (any, error) { return new(ptrace.ProtoUnmarshaler).UnmarshalTraces(b) }},
	"logs":     {Logs, func(b []byte) (any, error) { return new(plog.ProtoUnmarshaler).UnmarshalLogs(b) }},
	"metrics":  {Metrics, func(b []byte) (any, error) { return new(pmetric.ProtoUnmarshaler).UnmarshalMetrics(b) }},
	"profiles": {Profiles, func(b []byte) (any, error) { return new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(b) }},
}

// within returns a message in others.
func within(path []protowire.Number, message []byte) []byte {
	for _, number := range slices.Backward(path) {
		message = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), message)
	}
	return message
}

// TestEstimate: no field of any message, repeated, needs more memory than estimated.
func TestEstimate(t *testing.T) {
	testsize.NeedFull(t)
	const n = 5000
	elements := map[string]func(protowire.Number) []byte{
		"empty": func(i protowire.Number) []byte {
			return bytes.Repeat(append(protowire.AppendTag(nil, i, protowire.BytesType), 0), n)
		},
		"text": func(i protowire.Number) []byte {
			return bytes.Repeat(append(protowire.AppendTag(nil, i, protowire.BytesType), 2, 'a', 'b'), n)
		},
		"packed": func(i protowire.Number) []byte {
			return protowire.AppendBytes(protowire.AppendTag(nil, i, protowire.BytesType), make([]byte, n))
		},
		"number": func(i protowire.Number) []byte {
			return bytes.Repeat(append(protowire.AppendTag(nil, i, protowire.VarintType), 1), n)
		},
		"double": func(i protowire.Number) []byte {
			return bytes.Repeat(append(protowire.AppendTag(nil, i, protowire.Fixed64Type), make([]byte, 8)...), n)
		},
	}
	for name, signal := range signals {
		for _, path := range paths(signal.message) {
			for kind, element := range elements {
				for _, number := range []protowire.Number{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, libraries} {
					data := within(path, element(number))
					if _, err := signal.decode(data); err != nil {
						continue
					}
					estimate, err := signal.message.estimate(data, 0, math.MaxInt)
					require.NoError(t, err)
					estimate += perByte * len(data)
					used := retained(estimate+16<<10, func() any {
						message, _ := signal.decode(data)
						return message
					})
					assert.LessOrEqual(t, used, estimate+16<<10, "%s %v: %s of field %d", name, path, kind, number)
				}
			}
		}
	}
}

// paths returns the shortest path to every message.
func paths(m *Message) (all [][]protowire.Number) {
	seen := map[*Message]bool{m: true}
	type place struct {
		message *Message
		path    []protowire.Number
	}
	for queue := []place{{m, nil}}; len(queue) > 0; queue = queue[1:] {
		all = append(all, queue[0].path)
		for number, child := range queue[0].message.fields {
			if !seen[child] && child.fields != nil {
				seen[child] = true
				queue = append(queue, place{child, append(slices.Clone(queue[0].path), number)})
			}
		}
	}
	return all
}

// retained returns the memory that a result retains, or what its function allocates in all, if that
// is within the limit: this is an upper bound, and needs no garbage collection.
func retained(limit int, result func() any) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result()
	runtime.ReadMemStats(&after)
	if allocated := int(after.TotalAlloc - before.TotalAlloc); allocated <= limit {
		return allocated
	}
	base := heap()
	kept := result()
	used := heap() - base
	runtime.KeepAlive(kept)
	return used
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestCheck: messages that would need too much memory or stack are rejected, and so are damaged
// ones, whose rest is not counted.
func TestCheck(t *testing.T) {
	spans := []protowire.Number{1, 2}
	assert.NoError(t, Traces.Check(within(spans, bytes.Repeat([]byte{2<<3 | 2, 0}, 1<<20))))
	err := Traces.Check(within(spans, bytes.Repeat([]byte{2<<3 | 2, 0}, 4<<20)))
	assert.ErrorIs(t, err, ErrLimit)
	assert.ErrorContains(t, err, "920 MiB")
	assert.ErrorContains(t, err, "320")

	deep := func(n int) []byte {
		// From the inside, into a buffer that is filled from its end.
		b := make([]byte, 32*n+100)
		at := len(b)
		put := func(number protowire.Number) {
			head := protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.BytesType), uint64(len(b)-at))
			at -= len(head)
			copy(b[at:], head)
		}
		for range n {
			put(1)
			put(5)
		}
		for _, number := range []protowire.Number{5, 2, 2, 1} { // body, log record, scope, resource
			put(number)
		}
		return b[at:]
	}
	assert.NoError(t, Logs.Check(deep(4990)))
	assert.ErrorIs(t, Logs.Check(deep(5000)), ErrLimit)
	assert.ErrorContains(t, Logs.Check(deep(5000)), "10000 levels")

	for _, damaged := range [][]byte{{1<<3 | 2, 5}, {0}, {1<<3 | 3, 2<<3 | 4}, {0x8a, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0}} {
		assert.ErrorIs(t, Traces.Check(damaged), ErrDamaged)
	}
}

// TestEstimateJSON: no list of any message needs more memory than estimated.
func TestEstimateJSON(t *testing.T) {
	const n = 5000
	list := func(element string) string { return "[" + strings.Repeat(element+",", n-1) + element + "]" }
	objects := []string{"{}", `{"attributes":[{}]}`, `{"key":"","value":{}}`, `{"timeUnixNano":"1","asDouble":1}`}
	decoders := map[string]func([]byte) (any, error){
		"traces":   func(b []byte) (any, error) { return new(ptrace.JSONUnmarshaler).UnmarshalTraces(b) },
		"logs":     func(b []byte) (any, error) { return new(plog.JSONUnmarshaler).UnmarshalLogs(b) },
		"metrics":  func(b []byte) (any, error) { return new(pmetric.JSONUnmarshaler).UnmarshalMetrics(b) },
		"profiles": func(b []byte) (any, error) { return new(pprofile.JSONUnmarshaler).UnmarshalProfiles(b) },
	}
	for signal, forms := range map[string][]string{
		"traces": {
			`{"resourceSpans":%s}`, `{"resourceSpans":[{"scopeSpans":%s}]}`, `{"resourceSpans":[{"scopeSpans":[{"spans":%s}]}]}`,
			`{"resourceSpans":[{"resource":{"attributes":%s}}]}`, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"events":%s}]}]}]}`,
		},
		"logs": {`{"resourceLogs":[{"scopeLogs":[{"logRecords":%s}]}]}`, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"arrayValue":{"values":%s}}}]}]}]}`},
		"metrics": {
			`{"resourceMetrics":[{"scopeMetrics":[{"metrics":%s}]}]}`, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"gauge":{"dataPoints":%s}}]}]}]}`,
			`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"exponentialHistogram":{"dataPoints":%s}}]}]}]}`,
			`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"histogram":{"dataPoints":[{"exemplars":%s}]}}]}]}]}`,
			`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"histogram":{"dataPoints":[{"bucketCounts":%s}]}}]}]}]}`,
		},
		"profiles": {`{"resourceProfiles":[{"scopeProfiles":[{"profiles":%s}]}]}`, `{"dictionary":{"locationTable":%s}}`, `{"dictionary":{"stringTable":%s}}`},
	} {
		for _, form := range forms {
			for _, element := range append(objects, "0", `""`, `"0"`) {
				data := []byte(fmt.Sprintf(form, list(element)))
				if _, err := decoders[signal](data); err != nil {
					continue
				}
				estimate, err := EstimateJSON(data, math.MaxInt)
				require.NoError(t, err)
				used := retained(estimate+16<<10, func() any {
					message, _ := decoders[signal](data)
					return message
				})
				assert.LessOrEqual(t, used, estimate+16<<10, "%s of %s", form, element)
			}
		}
	}
}

// TestEstimateDamagedJSON: the decoder continues after errors, and may read texts as messages.
func TestEstimateDamagedJSON(t *testing.T) {
	requests := map[string]func([]byte) any{
		`{"resourceSpans":[{"scopeSpans":[{"spans":[`: func(b []byte) any {
			r := ptraceotlp.NewExportRequest()
			_ = r.UnmarshalJSON(b)
			return r
		},
		`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"exponentialHistogram":{"dataPoints":[`: func(b []byte) any {
			r := pmetricotlp.NewExportRequest()
			_ = r.UnmarshalJSON(b)
			return r
		},
		`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"arrayValue":{"values":[`: func(b []byte) any {
			r := plogotlp.NewExportRequest()
			_ = r.UnmarshalJSON(b)
			return r
		},
	}
	check := func(begin, part string) {
		data := []byte(begin + strings.Repeat(part, 100_000/len(part)))
		estimate, err := EstimateJSON(data, math.MaxInt)
		if err != nil {
			requests[begin](data) // does not panic
			return
		}
		used := retained(estimate+64<<10, func() any { return requests[begin](data) })
		assert.LessOrEqual(t, used, estimate+64<<10, "%s and %q", begin, part)
	}
	tokens := []string{
		"0", ",", ",", ",", `"`, `"`, "{", "{}", "}", "[", "]", ":", "null", " ", `\`, `\"`, "10", `"",`, `"status":`, `"spans":[`, `"events":[{`, `"values":[`, `"attributes":[{`,
		`"arrayValue":{`, `{"value":{`, `"flags":`, `"name":`,
	}
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 10
	if testsize.Full() {
		rounds = 500
	}
	for begin := range requests {
		for _, part := range []string{"0,", "null,", ":,", ",", `",`, `"0,`, `\,`, "{,", "0 ,", "{},", `"",`, `",",`} {
			check(begin, part)
		}
		for _, text := range []string{",0", ",{}", `,\\`, ",null", ","} {
			check(begin, `"`+strings.Repeat(text, 10_000)+`",`)
			check(begin, `{"status":"`+strings.Repeat(","+text, 10_000)+`"},`)
		}
		for range rounds {
			part := ""
			for range 1 + random.IntN(8) {
				part += tokens[random.IntN(len(tokens))]
			}
			check(begin, part)
			check(begin, `{"status":"`+part)
		}
	}
}

func TestEstimateJSONDepth(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat(`{"a":[`, n/2) + strings.Repeat("]}", n/2)) }
	_, err := EstimateJSON(nested(10_000), math.MaxInt)
	assert.NoError(t, err)
	_, err = EstimateJSON(nested(10_002), math.MaxInt)
	assert.ErrorIs(t, err, ErrLimit)
	_, err = EstimateJSON([]byte(`{"a":"`+strings.Repeat(`\"{[,`, 20_000)+`"}`), math.MaxInt)
	assert.NoError(t, err, "text")
	memory, err := EstimateJSON([]byte(`{"a":"`+strings.Repeat(`a \"text\", and more: `, 20_000)+`"}`), math.MaxInt)
	assert.NoError(t, err)
	assert.Less(t, memory, 5*20_000*22, "text")
}

// TestEstimateStops: above the limit, an estimate does not visit the rest.
func TestEstimateStops(t *testing.T) {
	const limit = 1000
	damaged := []byte{0}
	memory, err := Traces.Estimate(within([]protowire.Number{1, 2}, append(bytes.Repeat([]byte{2<<3 | 2, 0}, 10), damaged...)), limit)
	assert.NoError(t, err)
	assert.Greater(t, memory, limit)
	memory, err = EstimateJSON([]byte(strings.Repeat("{}", 10)+strings.Repeat("[", 20_000)), limit)
	assert.NoError(t, err)
	assert.Greater(t, memory, limit)
}
