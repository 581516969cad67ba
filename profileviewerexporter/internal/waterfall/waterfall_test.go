// SPDX-License-Identifier: Apache-2.0

package waterfall

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

func id(n int) (id pcommon.SpanID) {
	binary.BigEndian.PutUint64(id[:], uint64(n))
	return id
}

// TestCritical: of two parallel calls, the later one is on the critical path, and calls that their
// parent did not wait for are not.
func TestCritical(t *testing.T) {
	found := []Span{
		{id(1), id(0), 0, 100},  // root
		{id(2), id(1), 10, 40},  // fast, parallel to 3
		{id(3), id(1), 12, 60},  // slow
		{id(4), id(3), 20, 55},  // its call
		{id(5), id(1), 60, 95},  // then
		{id(6), id(1), 90, 200}, // in the background
		{id(7), id(1), 2, 12},   // first
		{id(8), id(5), 96, 96},  // after its parent
	}
	rows := Order(found)
	critical := Critical(found, rows)
	var path []int
	for i, row := range rows {
		if critical[i] {
			path = append(path, row.Index+1)
		}
	}
	assert.ElementsMatch(t, []int{1, 3, 4, 5, 7}, path)
}

// TestCriticalCoversTheRoot: the segments of the path are disjoint, and each span of it lies within
// its parent.
func TestCriticalCoversTheRoot(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		found := []Span{{id(1), id(0), 0, 1000}}
		for i := 2; i < 2+random.IntN(40); i++ {
			parent := found[random.IntN(len(found))]
			length := parent.End - parent.Start + 1
			start := parent.Start + random.Uint64N(length)
			found = append(found, Span{id(i), parent.ID, start, start + random.Uint64N(length)})
		}
		rows := Order(found)
		critical := Critical(found, rows)
		byParent := map[pcommon.SpanID][]Span{}
		for i, row := range rows {
			if span := found[row.Index]; critical[i] && span.Parent != id(0) {
				for _, other := range byParent[span.Parent] {
					require.True(t, span.End <= other.Start || other.End <= span.Start, "siblings on the path do not overlap")
				}
				byParent[span.Parent] = append(byParent[span.Parent], span)
			}
		}
		require.True(t, critical[0])
	}
}

func stored(t *testing.T, spans int, name func(int) string, fill func(int, ptrace.Span)) *Reader {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	list := resource.ScopeSpans().AppendEmpty().Spans()
	for i := range spans {
		span := list.AppendEmpty()
		span.SetTraceID(pcommon.TraceID{7})
		span.SetSpanID(id(i + 1))
		span.SetParentSpanID(id(i / 2))
		span.SetName(name(i))
		fill(i, span)
	}
	s := store.New(1<<32, time.Hour)
	_, err := s.AddTraces(t.Context(), traces, time.Now())
	require.NoError(t, err)
	return &Reader{Trace: pcommon.TraceID{7}, Fragments: s.Trace(pcommon.TraceID{7})}
}

// TestRows: each row has the values of its span.
func TestRows(t *testing.T) {
	r := stored(t, 1000, func(i int) string { return fmt.Sprint("name ", i%10) }, func(i int, span ptrace.Span) {
		span.SetStartTimestamp(pcommon.Timestamp(1e18 + i))
		span.SetEndTimestamp(pcommon.Timestamp(1e18 + 2*i))
		if i%3 == 0 {
			span.Status().SetCode(ptrace.StatusCodeError)
		}
	})
	out, err := r.Rows(map[pcommon.SpanID]store.Sum{id(8): {Samples: 3, Weight: 30}})
	require.NoError(t, err)
	require.Len(t, out.Rows, 1000)
	assert.Equal(t, "1000000000000000000", out.Origin)
	for i, row := range out.Rows {
		raw, err := hex.DecodeString(out.IDs[16*i : 16*i+16])
		require.NoError(t, err)
		n := int(binary.BigEndian.Uint64(raw)) - 1
		require.Equal(t, int64(n), row[1])
		require.Equal(t, int64(n), row[2])
		require.Equal(t, fmt.Sprint("name ", n%10), out.Names[row[3]])
		require.Equal(t, "shop", out.Names[row[4]])
		require.Equal(t, n%3 == 0, row[5]&isError != 0)
		if n == 7 {
			require.Equal(t, []int64{3, 30}, row[6:])
		}
	}
}

// TestRowsAreBounded: a response with as many spans as there may be, with long and different names
// and times, is below its limit.
func TestRowsAreBounded(t *testing.T) {
	usual := stored(t, MaxSpans, func(i int) string { return fmt.Sprint("GET /item/", i%500) }, func(i int, span ptrace.Span) {
		span.SetStartTimestamp(pcommon.Timestamp(1e18 + i*10_007))
		span.SetEndTimestamp(pcommon.Timestamp(1e18 + i*10_007 + 1_234_567))
	})
	out, err := usual.Rows(nil)
	require.NoError(t, err)
	content, err := answer.JSON(out)
	require.NoError(t, err)
	t.Logf("%d usual rows: %d bytes", len(out.Rows), len(content))
	assert.Len(t, out.Rows, MaxSpans)

	long := strings.Repeat("\"", 500)
	hostile := stored(t, MaxSpans, func(i int) string { return fmt.Sprint(i, long) }, func(i int, span ptrace.Span) {
		span.SetParentSpanID(id(i)) // one deep chain
		span.SetStartTimestamp(pcommon.Timestamp(i))
		span.SetEndTimestamp(1<<64 - 1)
	})
	out, err = hostile.Rows(map[pcommon.SpanID]store.Sum{id(1): {Samples: 1 << 62, Weight: 1 << 62}})
	require.NoError(t, err)
	content, err = answer.JSON(out)
	require.NoError(t, err)
	t.Logf("%d hostile rows: %d bytes", len(out.Rows), len(content))
	assert.Equal(t, MaxSpans, out.Count)
	assert.Positive(t, out.Omitted)
	assert.Len(t, out.IDs, 16*len(out.Rows))
}
