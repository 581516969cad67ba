// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// The steps, each with what it is to do to an observation in words, written without looking at
// tables: false drops it.
var oracles = map[string]struct {
	step Step
	want func(*observation) bool
}{
	"aggregate to counts": {&Aggregate{Unit: UnitCount}, func(o *observation) bool {
		o.time = 0
		return true
	}},
	"active_thread_only": {&ActiveThreadOnly{}, func(o *observation) bool {
		return o.active == "-" || o.active == threadOf(o)
	}},
	"resource_to_samples": {&ResourceToSamples{Attributes: []string{"service.name", "absent"}}, func(o *observation) bool {
		o.attributes["service.name"] = "Str " + o.service
		return true
	}},
	"split": {&Split{MaxSamples: 7, MaxDuration: 300 * time.Millisecond, MaxBytes: minSplitBytes}, func(*observation) bool {
		return true
	}},
	"drop_attributes": {&DropAttributes{Samples: []string{semconv.ThreadID}, Profiles: []string{semconv.SentryActiveThreadID}}, func(o *observation) bool {
		delete(o.attributes, semconv.ThreadID)
		o.active = "-"
		return true
	}},
	"labels": {&Labels{MaxPerSample: 20, MaxValueBytes: 2048}, func(o *observation) bool {
		labels := map[string]string{}
		for key, value := range o.attributes {
			labels[strings.ReplaceAll(key, ".", "_")] = value
		}
		o.attributes = labels
		return true
	}},
	"unique_times": {&UniqueTimes{}, func(*observation) bool { return true }},
	"drop_idle": {&DropIdle{Functions: []string{"(idle)"}}, func(o *observation) bool {
		return len(o.stack) > 0 && !strings.HasPrefix(o.stack[0], "(idle) ")
	}},
	"threads": {&Threads{Keep: patterns("main", "^2$", "pool"), Drop: patterns("^pool-")}, func(o *observation) bool {
		name := strings.TrimPrefix(o.attributes[semconv.ThreadName], "Str ")
		if name == "" {
			name = threadOf(o)
		}
		return (strings.Contains(name, "main") || name == "2" || strings.Contains(name, "pool")) && !strings.HasPrefix(name, "pool-")
	}},
	"frames": {&Frames{Action: ActionDrop, Name: "(other)", Match: []FrameMatch{{Function: regexp.MustCompile("^render$")}}}, func(o *observation) bool {
		var kept []string
		for _, frame := range o.stack {
			if !strings.HasPrefix(frame, "render ") {
				kept = append(kept, frame)
			}
		}
		if len(o.stack) > 0 && len(kept) == 0 {
			kept = []string{"(other) at :0 {0 in }"}
		}
		o.stack = kept
		return true
	}},
	"scrub": {&Scrub{Preset: PresetHome, Rules: []ScrubRule{{regexp.MustCompile("pool-([0-9])"), "pool $1"}}}, func(o *observation) bool {
		clean := strings.NewReplacer("/home/alice", "/home/user", "/home/carol", "/home/user", "/Users/bob", "/Users/user",
			`C:\Users\dave`, `C:\Users\user`, "pool-1", "pool 1")
		for i := range o.stack {
			o.stack[i] = clean.Replace(o.stack[i])
		}
		for key, value := range o.attributes {
			o.attributes[key] = clean.Replace(value)
		}
		return true
	}},
}

func threadOf(o *observation) string {
	_, id, _ := strings.Cut(o.attributes[semconv.ThreadID], " ")
	return id
}

func patterns(texts ...string) (all []*regexp.Regexp) {
	for _, text := range texts {
		all = append(all, regexp.MustCompile(text))
	}
	return all
}

// Every step does to random messages what its oracle says, and nothing else; what it drops is
// counted; the result is valid.
func TestStepsAgreeWithOracles(t *testing.T) {
	for name, c := range oracles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, c.step.Validate())
			for seed := range seeds() {
				p := randomProfiles(rand.New(rand.NewPCG(seed, 1)))
				var want []observation
				dropped := 0
				for _, o := range spell(p) {
					if c.want(&o) {
						want = append(want, o)
					} else {
						dropped++
					}
				}
				parts, lost := Apply(p, []Step{c.step})
				require.Empty(t, difference(tally(want), tally(spellAll(t, parts))), "seed %d", seed)
				require.Equal(t, dropped, total(lost), "seed %d", seed)
			}
		})
	}
}

// Several steps one after another do what their oracles do one after another, with one compaction.
func TestStepsInRow(t *testing.T) {
	names := []string{"active_thread_only", "threads", "drop_idle", "scrub", "frames", "resource_to_samples", "drop_attributes", "aggregate to counts"}
	for seed := range seeds() {
		r := rand.New(rand.NewPCG(seed, 2))
		p := randomProfiles(r)
		want := spell(p)
		var steps []Step
		for _, i := range r.Perm(len(names))[:3] {
			c := oracles[names[i]]
			steps = append(steps, c.step)
			var kept []observation
			for _, o := range want {
				if c.want(&o) {
					kept = append(kept, o)
				}
			}
			want = kept
		}
		parts, _ := Apply(p, append(steps, oracles["split"].step))
		require.Empty(t, difference(tally(want), tally(spellAll(t, parts))), "seed %d: %T", seed, steps)
	}
}

// spellAll checks every part and lists the observations of all.
func spellAll(t *testing.T, parts []pprofile.Profiles) (all []observation) {
	t.Helper()
	for _, part := range parts {
		mustConform(t, part)
		for _, resource := range part.ResourceProfiles().All() {
			for _, profile := range resource.ScopeProfiles().At(0).Profiles().All() {
				require.Empty(t, profile.OriginalPayloadFormat())
				require.Zero(t, profile.OriginalPayload().Len())
			}
		}
		all = append(all, spell(part)...)
	}
	return all
}

func total(lost Losses) (n int) {
	for _, observations := range lost {
		n += observations
	}
	return n
}
