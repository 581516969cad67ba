// SPDX-License-Identifier: Apache-2.0

package perfetto_test

import (
	"math"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto"
	. "github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto/perfettotest"
)

// The most that reading a trace may allocate: a multiple of its size, as entries of tables can have
// four bytes, and a constant.
const maxGrowth, maxOverhead = 64, 1 << 20

func parse(t testing.TB, name string, data []byte) (trace *perfetto.Trace, err error) {
	most, spent := uint64(maxGrowth*len(data)+maxOverhead), uint64(math.MaxUint64)
	for attempt := 0; attempt < 3 && spent > most; attempt++ { // the runtime may count what others allocated before
		before := allocated()
		trace, err = perfetto.Parse(data)
		spent = allocated() - before
	}
	assert.LessOrEqual(t, spent, most, name)
	if err == nil {
		checkTables(t, trace)
	}
	return trace, err
}

func allocated() uint64 {
	sample := [...]metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}

// attack is a trace that tries to use up memory or time. Most are those of Relay (relay-profiling,
// perfetto/convert/attacks.rs).
type attack struct {
	name string
	data []byte
	err  error // nil = it is read
}

const mebibyte = 1 << 20

func attacks() []attack {
	long := strings.Repeat("x", 4*mebibyte-64)
	many := func(from, to int, field int, entry func(id int) []byte) (fields []any) {
		for id := from; id < to; id++ {
			fields = append(fields, field, entry(id))
		}
		return fields
	}
	ids := func(n int) (ids []int) {
		for id := range n {
			ids = append(ids, id+1)
		}
		return ids
	}
	frame := func(id int) []byte { return Frame(id, 1, id, 0x1000+id) }
	mapping := func(id int) []byte { return Mapping(id, 1, id<<16, id<<16+4096, 0, 1) }
	stack := Callstack(1, ids(1000)...)

	var packets, redefined, sequences, samples, empty [][]byte
	for i := range 50_000 {
		sequences = append(sequences, Message(10, i+1, 13, 1, 12, Message(5, Text(1, "f"))))
	}
	redefined = append(redefined, Snapshot(), Interned(many(1, 1001, 6, frame)...), Interned(7, stack))
	for i := range 20_000 {
		redefined = append(redefined, Interned(5, Text(1, "f")), Sample(i, 40, 1))
	}
	for i := range 100_001 {
		samples = append(samples, Sample(i, 41, 1))
	}
	for range 110_001 {
		empty = append(empty, nil)
	}
	for i := range 20 {
		packets = append(packets, Interned(many(i*10_000+1, i*10_000+10_001, 5, func(id int) []byte { return Message(1, id) })...))
	}
	small := Interned(5, Text(1, "f"), 6, Frame(1, 1, 0, 7), 7, Callstack(1, 1))
	join := slices.Repeat([]any{7, 1}, 100)
	return []attack{
		{"one long name of many frames", Trace(Snapshot(), Interned(5, Text(1, long)), Interned(many(1, 1001, 6, frame)...), Interned(7, stack), Sample(0, 40, 1)), nil},
		{"one long path of many mappings", Trace(Snapshot(), Interned(17, Text(1, long)), Interned(many(1, 1001, 19, mapping)...),
			Interned(many(1, 1001, 6, frame)...), Interned(7, stack), Sample(0, 40, 1)), perfetto.ErrTooLarge},
		{"one segment a hundred times in a path", Trace(Snapshot(), Interned(17, Text(1, long[:mebibyte/2])), Interned(19, Message(append([]any{1, 1}, join...)...)),
			Interned(6, Frame(1, 1, 1, 7), 7, Callstack(1, 1)), Sample(0, 40, 1)), perfetto.ErrTooLarge},
		{"a path of too many segments", Trace(Snapshot(), Interned(19, Message(append([]any{1, 1, 7, 1}, join...)...))), perfetto.ErrTooLarge},
		{"a deep call stack that no sample refers to", Trace(Snapshot(), small, Sample(0, 40, 1), Interned(7, Callstack(2, slices.Repeat([]int{1}, 1_000_000)...))), perfetto.ErrTooLarge},
		{"a million interned entries", Trace(packets...), perfetto.ErrTooLarge},
		{"50,000 sequences", Trace(sequences...), perfetto.ErrTooLarge},
		{"100,001 samples", Trace(append([][]byte{Snapshot(), small}, samples...)...), perfetto.ErrTooLarge},
		{"110,001 packets", Trace(empty...), perfetto.ErrTooLarge},
		{"a packet of 4 MiB", Trace(make([]byte, 4*mebibyte+1)), perfetto.ErrTooLarge},
		{"a call stack that is resolved again for every sample", Trace(redefined...), perfetto.ErrTooLarge},
		{"a length beyond the data", []byte{0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1}, perfetto.ErrMalformed},
		{"a list of numbers that does not end", Trace(Snapshot(), Interned(6, Frame(1, 0, 0, 1), 7, Message(1, 1, 2, "\x01\xFF\xFF")), Sample(0, 40, 1)), nil},
	}
}

// TestAttacks: what a trace becomes is bounded by it.
func TestAttacks(t *testing.T) {
	for _, a := range attacks() {
		start := time.Now()
		_, err := parse(t, a.name, a.data)
		if a.err == nil {
			assert.NoError(t, err, a.name)
		} else {
			assert.ErrorIs(t, err, a.err, a.name)
		}
		t.Logf("%-55s %8d bytes %v", a.name, len(a.data), time.Since(start).Round(time.Millisecond))
	}
}

// TestCutAnywhere: of a trace that ends early, the samples before are kept.
func TestCutAnywhere(t *testing.T) {
	data := shop()
	whole, err := parse(t, "", data)
	require.NoError(t, err)
	for end := range data {
		got, err := parse(t, "", data[:end])
		if err != nil {
			continue
		}
		require.Subset(t, words(whole).Samples, words(got).Samples)
	}
}

// shop is a small trace with Java, native code in an APK, and names of threads.
func shop() []byte {
	return Trace(
		Snapshot(),
		Message(2, Message(2, Message(1, 41, 2, "RenderThread", 3, 40), 2, Message(1, 40, 2, "example.shop", 3, 40))),
		Message(10, 1, 13, 1, 59, Message(12, Message(1, Message(2, 101)))),
		Interned(
			5, Text(1, "com.example.Shop.open"), 5, Text(2, "_ZN4Shop4openEv"), 16, Text(1, "0123456789abcdef0123"),
			17, Text(1, "data/app/base.apk"), 17, Text(2, "data/app/oat/arm64/base.odex"),
			19, Message(1, 1, 2, 1, 3, 0x10000, 4, 0x7000_0000, 5, 0x7000_8000, 6, 0x4000, 8, 0x12000, 7, 1), 19, Mapping(2, 0, 0x1000, 0x2000, 0, 2),
			6, Frame(1, 1, 2, 0x10), 6, Frame(2, 2, 1, 0x4000+0x2000+0x123), 7, Callstack(1, 1, 2), 7, Callstack(2, 1)),
		Sample(10_000_000, 41, 2),
		Sample(0, 40, 1),
	)
}

// TestShop reads it, in words.
func TestShop(t *testing.T) {
	trace, err := parse(t, "", shop())
	require.NoError(t, err)
	java := wantFrame{Function: "com.example.Shop.open", Path: "data/app/oat/arm64/base.odex", Java: true}
	native := wantFrame{Function: "_ZN4Shop4openEv", Path: "data/app/base.apk", BuildID: "3031323334353637383961626364656630313233", Address: 0x7000_0123}
	assert.Equal(t, []wantSample{
		{Time: Unix, TID: 40, Thread: "main", Stack: []wantFrame{native, java}},
		{Time: Unix + 10_000_000, TID: 41, Thread: "RenderThread", Stack: []wantFrame{java}},
	}, words(trace).Samples)
	assert.Equal(t, perfetto.Mapping{Path: trace.Mappings[2].Path, BuildID: trace.Mappings[2].BuildID, Start: 0x7000_0000, End: 0x7000_8000,
		Offset: 0x2000, InFile: 0x10000, LoadBias: 0x4000}, trace.Mappings[2])
	assert.Equal(t, time.Second/101, trace.Period)
}
