// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// indexed is a collector with the index of the product.
type indexed struct {
	work   *workload
	limits spanlink.Limits
	index  *spanlink.Index
	lost   int64
}

func newIndexed(work *workload, t Tier) *indexed {
	c := &indexed{work: work, limits: spanlink.Limits{Spans: t.MaxSpans, Bytes: math.MaxInt64, MaxAge: time.Duration(t.KeepSpans) * time.Second}}
	c.crash(0)
	return c
}

// epoch is the start of the virtual time.
var epoch = time.Unix(1_700_000_000, 0)

func at(second int) time.Time { return epoch.Add(time.Duration(second) * time.Second) }

func sessionName(session uint32) string { return fmt.Sprintf("%032d", session) }

const onlyThread = "1"

// times returns the start and the end of a span, in Unix nanoseconds.
func (w *workload) times(s span) (start, end uint64) {
	instant := func(n uint32) uint64 {
		return uint64(epoch.UnixNano()) + uint64(float64(n)/w.sessions[s.session].rate*1e9)
	}
	return instant(s.number), instant(s.number + 1)
}

// ids returns the trace ID and the span ID of a span.
func (s span) ids() (trace [16]byte, id [8]byte) {
	binary.BigEndian.PutUint32(trace[:], s.session+1)
	binary.BigEndian.PutUint32(id[:], s.number+1)
	return trace, id
}

func (c *indexed) add(now int, s span) {
	spanOf := spanlink.Span{
		Sessions: []spanlink.Session{{Parts: [...]string{sessionName(s.session), "", ""}}}, Thread: onlyThread,
	}
	spanOf.Start, spanOf.End = c.work.times(s)
	spanOf.Trace, spanOf.ID = s.ids()
	c.count(c.index.Add(one(spanOf), at(now)))
}

func one(s spanlink.Span) iter.Seq[spanlink.Span] {
	return func(yield func(spanlink.Span) bool) { yield(s) }
}

func (c *indexed) count(stats spanlink.SpanStats) { c.lost += stats.Evicted }

func (c *indexed) expire(now, _ int) { c.count(c.index.Expire(at(now))) }

// hold does nothing: the index links a chunk when it is due.
func (c *indexed) hold(uint32, int) {}

func (c *indexed) link(now int, session uint32, chunk int) int {
	return int(c.index.Link(c.work.profile(session, chunk), spanlink.Options{Now: at(now), Ambiguous: spanlink.Skip}).Linked)
}

// profile returns a chunk: a profile with one observation in the middle of each span.
func (w *workload) profile(session uint32, chunk int) pprofile.Profiles {
	profiles := pprofile.NewProfiles()
	dictionary := profiles.Dictionary()
	dictionary.StringTable().Append("", semconv.SentryProfilerID, semconv.ThreadID)
	dictionary.AttributeTable().AppendEmpty()
	for i, value := range []string{sessionName(session), onlyThread} {
		attribute := dictionary.AttributeTable().AppendEmpty()
		attribute.SetKeyStrindex(int32(i + 1))
		attribute.Value().SetStr(value)
	}
	dictionary.LinkTable().AppendEmpty()
	profile := profiles.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	profile.AttributeIndices().Append(1)
	from, to := w.sessions[session].spansOf(chunk)
	if from == to {
		return profiles
	}
	sample := profile.Samples().AppendEmpty()
	sample.AttributeIndices().Append(2)
	for n := from; n < to; n++ {
		start, end := w.times(span{session, n})
		sample.TimestampsUnixNano().Append(start + (end-start)/2)
	}
	return profiles
}

func (c *indexed) crash(int) { c.index = spanlink.NewIndex(spanlink.Sentry, c.limits) }

func (c *indexed) size() int      { return c.index.Size().Spans }
func (c *indexed) evicted() int64 { return c.lost }
