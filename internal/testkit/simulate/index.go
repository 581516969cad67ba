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
	c.crash()
	return c
}

// epoch is the start of the virtual time.
var epoch = time.Unix(1_700_000_000, 0)

func at(second int) time.Time { return epoch.Add(time.Duration(second) * time.Second) }

func sessionName(session uint32) string { return fmt.Sprintf("%032d", session) }

const onlyThread = "1"

// times returns the start and the end of a span, in Unix nanoseconds.
func (c *indexed) times(s span) (start, end uint64) {
	instant := func(n uint32) uint64 {
		return uint64(epoch.UnixNano()) + uint64(float64(n)/c.work.sessions[s.session].rate*1e9)
	}
	return instant(s.number), instant(s.number + 1)
}

func (c *indexed) add(now int, s span) {
	spanOf := spanlink.Span{
		Sessions: []spanlink.Session{{Parts: [...]string{sessionName(s.session), "", ""}}}, Thread: onlyThread,
	}
	spanOf.Start, spanOf.End = c.times(s)
	binary.BigEndian.PutUint32(spanOf.Trace[:], s.session+1)
	binary.BigEndian.PutUint32(spanOf.ID[:], s.number+1)
	c.count(c.index.Add(one(spanOf), at(now)))
}

func one(s spanlink.Span) iter.Seq[spanlink.Span] {
	return func(yield func(spanlink.Span) bool) { yield(s) }
}

func (c *indexed) count(stats spanlink.SpanStats) { c.lost += stats.Evicted }

func (c *indexed) expire(now, _ int) { c.count(c.index.Expire(at(now))) }

// link links a profile with one observation in the middle of each span.
func (c *indexed) link(now int, session uint32, chunk int) int {
	profiles := pprofile.NewProfiles()
	dictionary := profiles.Dictionary()
	dictionary.StringTable().Append("", "sentry.profiler_id", "thread.id")
	dictionary.AttributeTable().AppendEmpty()
	for i, value := range []string{sessionName(session), onlyThread} {
		attribute := dictionary.AttributeTable().AppendEmpty()
		attribute.SetKeyStrindex(int32(i + 1))
		attribute.Value().SetStr(value)
	}
	dictionary.LinkTable().AppendEmpty()
	profile := profiles.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	profile.AttributeIndices().Append(1)
	sample := profile.Samples().AppendEmpty()
	sample.AttributeIndices().Append(2)
	from, to := c.work.sessions[session].spansOf(chunk)
	for n := from; n < to; n++ {
		start, end := c.times(span{session, n})
		sample.TimestampsUnixNano().Append(start + (end-start)/2)
	}
	return int(c.index.Link(profiles, spanlink.Options{Now: at(now), Ambiguous: spanlink.Skip}).Linked)
}

func (c *indexed) crash() { c.index = spanlink.NewIndex(spanlink.Sentry, c.limits) }

func (c *indexed) size() int      { return c.index.Size().Spans }
func (c *indexed) evicted() int64 { return c.lost }
