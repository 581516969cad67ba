package main

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/spanlink"
)

// link compares linking the samples of a profile to spans with what it took to unmarshal the profile. All threads of the
// process serve requests all the time, so that most samples are split. What that makes of it can be larger by far than what
// came; two more figures tell how much of the cost is that: linking against unmarshalling the result, and the floor, which is
// what merely making the result takes, with everything known beforehand, against unmarshalling what came.
func (b *bench) link() {
	for _, source := range append(payload.Generated()[:3], b.recorded...) {
		p, err := source.Load()
		must(err)
		l := newLinking(decodeAndMap(p))
		results := measure.Race(b.roundsFor(p),
			measure.Contestant{Name: "unmarshal", Work: func() { l.unmarshal() }},
			measure.Contestant{Name: "unmarshal and link", Work: func() { l.link(l.unmarshal()) }},
			measure.Contestant{Name: "unmarshal and make the result", Work: func() { l.result.make(l.unmarshal()) }},
			measure.Contestant{Name: "unmarshal the result", Work: func() { unmarshal(l.linkedWire) }})
		linking := float64(results[1].Median() - results[0].Median())
		printRow("linking: CPU against OTLP unmarshal", p.Name, atMost(1, 0.3), results[1].Over(results[0])-1,
			fmt.Sprintf("%.0f ns per observation, unmarshal %.0f; %d spans, %.0f ns each to index; %.0f %% linked",
				linking/float64(p.Samples), float64(results[0].Median())/float64(p.Samples), l.spans, float64(l.adding)/float64(l.spans),
				100*float64(l.stats.Linked)/float64(p.Samples)))
		printRow("linking: CPU against OTLP unmarshal of result", p.Name, noTarget, linking/float64(results[3].Median()),
			fmt.Sprintf("%d samples become %d", l.samples, len(l.result.samples)))
		printRow("linking: its floor against OTLP unmarshal", p.Name, noTarget, results[2].Over(results[0])-1,
			"only making the samples and links of the result")
	}
}

// linking is a profile, the spans it is linked to, and what that gives.
type linking struct {
	index *spanlink.Index
	now   time.Time

	spans  int
	adding time.Duration // CPU time of filling the index

	wire, linkedWire []byte
	samples          int // before
	stats            spanlink.LinkStats
	result           result
}

func newLinking(profiles pprofile.Profiles) *linking {
	l := &linking{
		index: spanlink.NewIndex(spanlink.Sentry, spanlink.Limits{Spans: 1 << 20, Keep: time.Hour}), now: time.Now(),
		wire: marshal(profiles), samples: profiles.SampleCount(),
	}
	spans := requestsOf(profiles)
	l.adding = measure.CPU(func() { l.spans = int(l.index.Add(spans, l.now).Indexed) })
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
	l.stats = l.index.Link(p, spanlink.Options{Now: l.now, Ambiguous: spanlink.Skip, Session: benchSession})
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

// A request has four spans below it, one after another. Two requests in a second are what a busy worker does.
const (
	requestTime  = 500 * time.Millisecond
	requestParts = 4
)

// requestsOf are requests without a pause on all threads of a profile.
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
