// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// share is the part of the time of a thread's busy functions that one of them took.
type share struct {
	function  string
	want, got float64
	allowed   float64 // maximum difference
	samples   int64   // of all busy functions of the thread
}

// leastAllowed is the minimum tolerance: the times that a workload measures are not exact either.
const leastAllowed = 0.05

// checkShares checks that each busy function has the expected share of the time of its thread,
// within four standard deviations of a binomial distribution.
func checkShares(t *testing.T, all []busy, profiles []*timeline.Profile) (shares []share) {
	weights, samples := map[string]float64{}, map[string]int64{}
	for _, selected := range ownThreads(profiles) {
		for _, sample := range selected.profile.Selected(selected.filter) {
			if function := running(selected.profile, sample, all); function != nil {
				assert.False(t, selected.profile.Waits(sample.Stack), "%s is busy: graphs must not hide it as a wait", function.Function)
				weights[function.Function] += float64(sample.Weight)
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
		t.Logf("%s: %.1f%% of its thread's time, in the profile %.1f%% of %d samples (± %.1f allowed)", b.Function, 100*s.want, 100*s.got, s.samples, 100*s.allowed)
		shares = append(shares, s)
	}
	return shares
}

// selection is the samples of a profile that are checked.
type selection struct {
	profile *timeline.Profile
	filter  timeline.Filter
}

// ownThreads selects the threads to check. For V1 profiles, this is the thread of the transaction,
// because some SDKs add all threads to each profile.
func ownThreads(profiles []*timeline.Profile) (all []selection) {
	for _, p := range profiles {
		selected := selection{profile: p}
		if active, ok := p.View.Get(p.OTLP.AttributeIndices(), "sentry.active_thread.id"); ok {
			if thread, found := p.FindThread(active.AsString()); found {
				selected.filter.Thread = &thread
			}
		}
		all = append(all, selected)
	}
	return all
}

// running returns the busy function on the stack of a sample, or nil.
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

// links counts the links of samples of busy functions.
type links struct {
	right, none int64
	wrong       map[string]int64 // by name of the span
}

// leastRight is the minimum fraction of correct links. A sample is taken some time before or after
// its timestamp, so near the start or end of a span it may be outside of it. Spans take at least
// 150 ms.
const leastRight = 0.95

// checkLinks checks that samples of a busy function are linked to the spans in which it ran.
func checkLinks(t *testing.T, all []busy, profiles []*timeline.Profile, spans map[string]string) (l links) {
	l.wrong = map[string]int64{}
	for _, selected := range ownThreads(profiles) {
		p := selected.profile
		for _, sample := range p.Selected(selected.filter) {
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
