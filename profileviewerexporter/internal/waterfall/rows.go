// SPDX-License-Identifier: Apache-2.0

package waterfall

import (
	"encoding/hex"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/spanname"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

const (
	// maxRowBytes is the part of a response for rows. 100,000 rows of a usual trace take 4 MB.
	maxRowBytes = 6 << 20
	// maxNameBytes is the part of a response for names. Names occur once.
	maxNameBytes = 1 << 20
	// maxNames is the maximum number of different names of spans and services.
	maxNames = 4096
	// rowBytes is the maximum size of a row with its ID: five numbers below 2^53 and four small
	// ones.
	rowBytes = 16 + 9 + 4*17 + 3*7
)

// Answer has all rows of a trace.
type Answer struct {
	answer.Omissions
	Origin string   `json:"origin"` // start of the earliest span
	End    uint64   `json:"end"`    // end of the last span
	Count  int      `json:"count"`  // number of spans
	Names  []string `json:"names"`  // names of spans and services
	IDs    string   `json:"ids"`    // span IDs, 16 hex digits per row
	// Rows are lists of numbers: depth, start (nanoseconds after the origin), duration, index of
	// the name, index of the service, flags (1: error, 2: critical path), number of samples, weight
	// of the samples.
	Rows [][8]int64 `json:"rows"`
}

const (
	isError = 1 << iota
	isCritical
)

// Rows returns the response.
func (r *Reader) Rows(sums map[pcommon.SpanID]store.Sum) (out Answer, err error) {
	found, origin, err := r.Spans()
	if err != nil {
		return out, err
	}
	rows := Order(found)
	critical := Critical(found, rows)
	listed := rows[:min(len(rows), maxRowBytes/rowBytes*2)] // usual rows have less than half of the maximum
	out.Origin, out.Count, out.Rows = answer.Nanos(origin), len(rows), make([][8]int64, len(listed))
	ids := strings.Builder{}
	position := make([]int32, len(found)) // of the row of a span, plus one
	for i, row := range listed {
		span := &found[row.Index]
		position[row.Index] = int32(i + 1)
		ids.WriteString(hex.EncodeToString(span.ID[:]))
		sum, flags := sums[span.ID], int64(0)
		if critical[i] {
			flags = isCritical
		}
		out.End = max(out.End, span.End-origin)
		out.Rows[i] = [8]int64{int64(row.Depth), bounded(span.Start - origin), bounded(span.End - span.Start), 0, 0, flags, sum.Samples, sum.Weight}
	}
	out.End = uint64(bounded(out.End))
	names := nameList{indices: map[string]int64{}, texts: answer.PerEntry(maxNameBytes, 1, &out.Omissions)}
	err = r.Each(func(index int, span ptrace.Span, service string) {
		if at := position[index]; at > 0 {
			row := &out.Rows[at-1]
			row[3], row[4] = names.index(spanname.Of(span)), names.index(service)
			if span.Status().Code() == ptrace.StatusCodeError {
				row[5] |= isError
			}
		}
	})
	out.Names, out.IDs = names.list, ids.String()
	out.limit()
	return out, err
}

// limit removes the last rows if the response is too large.
func (a *Answer) limit() {
	bytes := 0
	for i, row := range a.Rows {
		bytes += 16 + 1 + len(row)
		for _, n := range row {
			bytes += digits(n)
		}
		if bytes > maxRowBytes {
			a.Rows, a.IDs = a.Rows[:i], a.IDs[:16*i]
			return
		}
	}
}

func digits(n int64) int {
	count := 1
	for ; n >= 10; n /= 10 {
		count++
	}
	return count
}

// bounded returns a number that JavaScript represents exactly.
func bounded(n uint64) int64 { return int64(min(n, 1<<53-1)) }

// nameList collects names. Beyond the limit, all share the last entry.
type nameList struct {
	list    []string
	indices map[string]int64
	texts   answer.Budget
}

func (l *nameList) index(name string) int64 {
	at, known := l.indices[name]
	switch {
	case known:
		return at
	case len(l.list) == maxNames:
		return maxNames - 1
	case len(l.list) == maxNames-1:
		name = "(other names)"
	}
	at = int64(len(l.list))
	l.indices[name] = at
	l.list = append(l.list, l.texts.Text(name))
	return at
}
