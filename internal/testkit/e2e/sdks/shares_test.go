// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/flame"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// share is how much of the time of its thread's busy functions a function took.
type share struct {
	function  string
	want, got float64
	allowed   float64 // difference
	samples   int64   // of all the functions of the thread
}

// leastAllowed, in shares: what a workload measures of itself is not exact either.
const leastAllowed = 0.05

// checkShares: in the flame graph, each busy function has the share of its thread that it really took, within four standard
// deviations of a binomial distribution.
func checkShares(t *testing.T, all []busy, profiles []*timeline.Profile) (shares []share) {
	graph, err := flame.New(func(visit func(flame.Selection) error) error {
		for _, selection := range ownThreads(profiles) {
			if err := visit(selection); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	weights := map[string]float64{}
	for _, top := range graph.Top() {
		weights[graph.Frames[top.Frame].Name] += float64(top.Total)
	}
	samples := map[string]int64{}
	for _, selection := range ownThreads(profiles) {
		for _, sample := range selection.Profile.Selected(selection.Filter) {
			if function := running(selection.Profile, sample, all); function != nil {
				samples[function.Function] += sample.Count
			}
		}
	}
	for _, b := range all {
		s := share{function: b.Function}
		var seconds, weight float64
		for _, other := range all {
			if other.Thread == b.Thread {
				seconds += other.Seconds
				weight += weights[other.Function]
				s.samples += samples[other.Function]
			}
		}
		if !assert.Positive(t, s.samples, "samples of the functions of thread %s", b.Thread) {
			continue
		}
		s.want, s.got = b.Seconds/seconds, weights[b.Function]/weight
		s.allowed = max(leastAllowed, 4*math.Sqrt(s.want*(1-s.want)/float64(s.samples)))
		assert.InDelta(t, s.want, s.got, s.allowed, "share of %s in %d samples", b.Function, s.samples)
		t.Logf("%s: %.1f %% of its thread's time, in the profile %.1f %% of %d samples (± %.1f allowed)", b.Function, 100*s.want, 100*s.got, s.samples, 100*s.allowed)
		shares = append(shares, s)
	}
	return shares
}

// ownThreads selects what is looked at: of V1 profiles the thread of their transaction, for some SDKs put all threads into each.
func ownThreads(profiles []*timeline.Profile) (selections []flame.Selection) {
	for _, p := range profiles {
		selection := flame.Selection{Profile: p}
		if active, ok := p.View.Get(p.OTLP.AttributeIndices(), "sentry.active_thread.id"); ok {
			if thread, found := p.FindThread(active.AsString()); found {
				selection.Filter.Thread = &thread
			}
		}
		selections = append(selections, selection)
	}
	return selections
}

// Running is the busy function on a sample's stack; nil = none.
func running(p *timeline.Profile, sample *timeline.Sample, all []busy) *busy {
	for _, location := range p.Stacks[sample.Stack] {
		for _, line := range p.Locations[location].Lines {
			for i := range all {
				if all[i].Function == p.Frames[line.Frame].Name {
					return &all[i]
				}
			}
		}
	}
	return nil
}

// links is what the samples of busy functions are linked to.
type links struct {
	right, none int64
	wrong       map[string]int64 // by the name of the span
}

// leastRight: a sample is taken some time before or after it is stamped, and so close to the start or end of a span may be
// just outside of it. Spans take 150 ms or more.
const leastRight = 0.95

// checkLinks: samples of a busy function are linked to the spans that it ran under.
func checkLinks(t *testing.T, all []busy, profiles []*timeline.Profile, spans map[string]string) (l links) {
	l.wrong = map[string]int64{}
	for _, selection := range ownThreads(profiles) {
		p := selection.Profile
		for _, sample := range p.Selected(selection.Filter) {
			function := running(p, sample, all)
			if function == nil {
				continue
			}
			link := p.Links[sample.Link]
			switch name, known := spans[link.Trace.String()+"/"+link.Span.String()]; {
			case link == timeline.Link{}:
				l.none += sample.Count
			case known && name == function.Span:
				l.right += sample.Count
			default:
				l.wrong[name] += sample.Count
			}
		}
	}
	t.Logf("links: %d right, %d none, to other spans %v", l.right, l.none, l.wrong)
	assert.GreaterOrEqual(t, float64(l.right), leastRight*float64(l.all()), "samples linked to the span that ran them")
	return l
}

func (l links) all() int64 {
	n := l.right + l.none
	for _, wrong := range l.wrong {
		n += wrong
	}
	return n
}
