// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
)

// BenchmarkLink compares linking the samples of a profile to spans with unmarshalling the profile.
// All threads serve requests without a pause, so most samples are split, and the output can be much
// larger than the input. Two further figures show this part of the cost: linking and the floor,
// creating the output from known data, compared with unmarshalling the output.
func BenchmarkLink(b *testing.B) {
	onEach(b, slices.Concat(payload.Typical(typical), recorded), func(b *testing.B, p payload.Payload) {
		l := newLinking(decodeAndMap(p))
		took := race(b,
			func() { l.unmarshal() },
			func() { l.link(l.unmarshal()) },
			func() { l.result.make(l.unmarshal()) },
			func() { unmarshal(l.linkedWire) })
		report(b, "link÷unmarshal", took[1]-took[0], took[0])
		report(b, "link÷unmarshal-result", took[1]-took[0], took[3])
		report(b, "floor÷unmarshal-result", took[2]-took[0], took[3])
	})
}

// linking is a profile with the spans that it is linked to, and the result.
type linking struct {
	index *spanlink.Index
	now   time.Time

	wire, linkedWire []byte
	result           result
}

func newLinking(profiles pprofile.Profiles) *linking {
	l := &linking{
		index: spanlink.NewIndex(spanlink.Sentry, spanlink.Limits{Spans: 1 << 20, MaxAge: time.Hour}), now: time.Now(),
		wire: marshal(profiles),
	}
	l.index.Add(requestsOf(profiles), l.now)
	linked := l.unmarshal()
	l.link(linked)
	l.linkedWire, l.result = marshal(linked), resultOf(linked)
	made := l.unmarshal()
	if l.result.make(made); !bytes.Equal(marshal(made), l.linkedWire) {
		panic("the floor of linking does not make what linking makes")
	}
	return l
}

func (l *linking) unmarshal() pprofile.Profiles { return unmarshal(l.wire) }

func (l *linking) link(p pprofile.Profiles) {
	l.index.Link(p, spanlink.Options{Now: l.now, Ambiguous: spanlink.Skip, Session: benchSession})
}

func marshal(p pprofile.Profiles) []byte {
	wire, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(p)
	must(err)
	return wire
}

func unmarshal(wire []byte) pprofile.Profiles {
	p, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(wire)
	must(err)
	return p
}

var benchSession = spanlink.Session{Parts: [...]string{"bench", "", ""}}

// Each request has four consecutive child spans. A busy worker serves two requests per second.
const (
	requestTime  = 500 * time.Millisecond
	requestParts = 4
)

// requestsOf returns requests on all threads of a profile, without pauses.
func requestsOf(p pprofile.Profiles) iter.Seq[spanlink.Span] {
	dict := p.Dictionary()
	threads := map[string]bool{}
	first, last := uint64(math.MaxUint64), uint64(0)
	for _, sample := range samplesOf(p).All() {
		attributes, err := pprofile.FromAttributeIndices(dict.AttributeTable(), sample, dict)
		must(err)
		thread, _ := attributes.Get("thread.id")
		threads[thread.AsString()] = true
		for _, t := range sample.TimestampsUnixNano().All() {
			first, last = min(first, t), max(last, t)
		}
	}
	return func(yield func(spanlink.Span) bool) {
		id := uint64(0)
		next := func() (s pcommon.SpanID) {
			id++
			for i := range s {
				s[i] = byte(id >> (8 * i))
			}
			return s
		}
		for thread := range threads {
			for start := first; start <= last; start += uint64(requestTime) {
				request := spanlink.Span{
					Trace: pcommon.TraceID{byte(id), byte(id >> 8), byte(id >> 16), 1}, ID: next(), Thread: thread,
					Sessions: []spanlink.Session{benchSession}, Start: start, End: start + uint64(requestTime),
				}
				if !yield(request) {
					return
				}
				for part := range uint64(requestParts) {
					child := request
					child.ID, child.Parent = next(), request.ID
					child.Start = start + (part+1)*uint64(requestTime)/(requestParts+1)
					child.End = child.Start + uint64(requestTime)/(requestParts+2)
					if !yield(child) {
						return
					}
				}
			}
		}
	}
}
