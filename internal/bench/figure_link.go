package main

import (
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
// process serve requests all the time, so that most samples are split: the second figure is against what it takes to unmarshal
// the result.
func (b *bench) link() {
	for _, source := range append(payload.Generated()[:3], b.recorded...) {
		p, err := source.Load()
		must(err)
		profiles := decodeAndMap(p)
		spans := requestsOf(profiles)
		wire, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(profiles)
		must(err)

		index := spanlink.NewIndex(spanlink.Sentry, spanlink.Limits{Spans: 1 << 20, Keep: time.Hour})
		now, count := time.Now(), 0
		adding := measure.CPU(func() { count = int(index.Add(spans, now).Indexed) })
		var stats spanlink.LinkStats
		unmarshal := func() pprofile.Profiles {
			profiles, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(wire)
			must(err)
			return profiles
		}
		linked := unmarshal()
		index.Link(linked, spanlink.Options{Now: now, Ambiguous: spanlink.Skip, Session: benchSession})
		samples := linked.SampleCount()
		linkedWire, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(linked)
		must(err)
		results := measure.Race(b.roundsFor(p),
			measure.Contestant{Name: "unmarshal", Work: func() { unmarshal() }},
			measure.Contestant{Name: "unmarshal and link", Work: func() {
				stats = index.Link(unmarshal(), spanlink.Options{Now: now, Ambiguous: spanlink.Skip, Session: benchSession})
			}},
			measure.Contestant{Name: "unmarshal the result", Work: func() {
				_, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(linkedWire)
				must(err)
			}})
		linking := float64(results[1].Median() - results[0].Median())
		note := fmt.Sprintf("%.0f ns per observation, unmarshal %.0f; %d spans, %.0f ns each to index; %.0f %% linked",
			linking/float64(p.Samples), float64(results[0].Median())/float64(p.Samples), count, float64(adding)/float64(count),
			100*float64(stats.Linked)/float64(p.Samples))
		printRow("linking: CPU against OTLP unmarshal", p.Name, atMost(1, 0.3), results[1].Over(results[0])-1, note)
		printRow("linking: CPU against OTLP unmarshal of result", p.Name, noTarget, linking/float64(results[2].Median()),
			fmt.Sprintf("%d samples become %d", profiles.SampleCount(), samples))
	}
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
	for _, sample := range p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().All() {
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
