// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// threadUse states what a thread did. Wall-clock profilers sample blocked threads as well: the
// weight on a stack does not tell which thread worked.
type threadUse struct {
	thread  *timeline.Thread
	linked  bool  // it ran a span
	sampler bool  // it is the SDK's own
	running int64 // weight of samples on a stack that does not end in a waiting function
	busy    int64 // weight of samples on any stack
}

// orderedThreads returns at most a given number of the threads with samples, those first that users
// want to see first. The page opens the first: of
// the threads that ran spans, the one that ran the longest. The sampler of an SDK is last: it runs
// while it takes samples.
func orderedThreads(p *timeline.Profile, most int) (list []*timeline.Thread) {
	uses := make([]threadUse, 0, len(p.Threads))
	for i := range p.Threads {
		if len(p.Threads[i].Samples) > 0 {
			uses = append(uses, threadUseOf(p, &p.Threads[i]))
		}
	}
	slices.SortStableFunc(uses, func(a, b threadUse) int {
		return cmp.Or(compareFlags(b.sampler, a.sampler), compareFlags(a.linked, b.linked),
			cmp.Compare(b.running, a.running), cmp.Compare(b.busy, a.busy))
	})
	for _, use := range uses[:min(len(uses), most)] {
		list = append(list, use.thread)
	}
	return list
}

// compareFlags compares two threads by a property: those that have it come first.
func compareFlags(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func threadUseOf(p *timeline.Profile, t *timeline.Thread) threadUse {
	use := threadUse{thread: t, sampler: isSampler(t.Name)}
	for _, s := range t.Samples {
		use.linked = use.linked || p.Links[s.Link] != (timeline.Link{})
		if len(p.Stacks[s.Stack]) == 0 {
			continue
		}
		use.busy += s.Weight
		if !p.Waits(s.Stack) {
			use.running += s.Weight
		}
	}
	return use
}

// isSampler reports whether a thread has the name of an SDK's sampler:
// sentry.profiler.ThreadScheduler and sentry.profiler.ThreadContinuousScheduler of Python,
// io.sentry.SamplingProfiler of Cocoa.
func isSampler(thread string) bool {
	thread = strings.ToLower(thread)
	return strings.Contains(thread, "sentry") && (strings.Contains(thread, "profil") || strings.Contains(thread, "sampl"))
}
