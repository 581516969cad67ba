// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/payload"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Link links the samples of a message to spans of the index. It changes the message.
func (x *Index) Link(p pprofile.Profiles, o Options) LinkStats {
	l := newLinker(x, p, o)
	defer l.release()
	eachProfile(&x.keys, p, func(profile pprofile.Profile, said values, program *Session) bool {
		l.profile(profile, said, program)
		return true
	})
	if l.linked && l.changed {
		dictionary.Compact(p) // links may be unreferenced now, and samples equal
	}
	return l.stats
}

// CanLink reports whether a span could exist for any sample of a message. It also records the
// sessions of the message in the index, because they affect other messages while this one waits.
func (x *Index) CanLink(p pprofile.Profiles, now time.Time) bool {
	var tracks sampleTracks
	tracks.readDictionary(&x.keys, p.Dictionary())
	concerned := false
	eachProfile(&x.keys, p, func(profile pprofile.Profile, said values, program *Session) bool {
		track := tracks.firstIdentified(profile, said)
		concerned = concerned || track != nil
		if track != nil && program != nil {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.noteProfile(program, track.sessions[0], now)
			x.enforceLimits()
			return true
		}
		return !concerned
	})
	return concerned
}

// eachProfile visits the profiles of a message, with the values of scope and resource.
func eachProfile(keys *compiledKeys, p pprofile.Profiles, do func(pprofile.Profile, values, *Session) bool) {
	for _, resource := range p.ResourceProfiles().All() {
		var ofResource values
		keys.read(resource.Resource().Attributes(), &ofResource)
		program := keys.programOf(resource.Resource().Attributes(), &ofResource)
		for _, scope := range resource.ScopeProfiles().All() {
			ofScope := ofResource
			keys.read(scope.Scope().Attributes(), &ofScope)
			for _, profile := range scope.Profiles().All() {
				if !do(profile, ofScope, program) {
					return
				}
			}
		}
	}
}

// linker links one message.
type linker struct {
	index   *Index
	options Options
	view    dictionary.View
	links   *dictionary.Links
	stats   LinkStats

	work    int  // number of spans compared with tracks so far
	linked  bool // a sample already had a link
	changed bool // the link of a sample has changed

	// The current profile. Later messages reuse the memory.
	tracks    sampleTracks
	found     []intervalRef
	runs      []spanRun // of all tracks, one track after another
	tree      spanTree
	linkOf    []dictionary.LinkIndex // by position in the tree; 0 if not yet known
	timelines timelineBuilder
	split     splitter
}

var linkers = sync.Pool{New: func() any { return new(linker) }}

func newLinker(x *Index, p pprofile.Profiles, o Options) *linker {
	l := linkers.Get().(*linker)
	l.index, l.options, l.stats, l.work, l.linked, l.changed = x, o, LinkStats{}, 0, false, false
	l.view, l.links = dictionary.NewView(p.Dictionary()), dictionary.NewLinks(p.Dictionary())
	l.tracks.readDictionary(&x.keys, p.Dictionary())
	return l
}

// maxPooled bounds the memory of a pooled linker, in bytes. For 57,000 observations and 5,800
// spans, a linker needs 2 MB.
const maxPooled = 16 << 20

// release returns the linker to the pool without references to the message and the index.
func (l *linker) release() {
	l.links.Release()
	l.tracks.release()
	l.index, l.options, l.view, l.links = nil, Options{}, dictionary.View{}, nil
	if l.memory() <= maxPooled {
		linkers.Put(l)
	}
}

// memory returns the approximate size of the memory that a pooled linker keeps.
func (l *linker) memory() int {
	spans := 64*cap(l.runs) + 72*cap(l.tree.nodes) + 4*cap(l.tree.positions) + 16*cap(l.timelines.sections) + 4*cap(l.timelines.cells)
	samples := 16*cap(l.tracks.bySample) + 20*cap(l.split.sequences) + 16*cap(l.split.times) + 4*cap(l.split.partOf)
	return spans + samples + 17*cap(l.tracks.texts) + 400*cap(l.tracks.list)
}

// profile links the samples of one profile.
func (l *linker) profile(profile pprofile.Profile, said values, program *Session) {
	l.tracks.read(profile, said, l.options.Shift)
	if l.options.Session != (Session{}) {
		l.tracks.setSession(l.options.Session)
		program = nil
	}
	l.queryIndex(program)
	l.timelines.reset()
	for i := range l.tracks.list {
		track := &l.tracks.list[i]
		track.timeline = l.timelines.build(&l.tree, track.runs, l.options.Ambiguous, track.first, track.last)
	}

	samples := profile.Samples()
	l.split.reset()
	for i, at := range l.tracks.bySample {
		if at == none || samples.At(i).AttributeIndices().Len() > maxAttributes {
			l.countUnsplit(samples.At(i))
			continue
		}
		l.split.beginSample(int32(i))
		l.decide(samples.At(i), &l.tracks.list[at])
	}
	changed := l.split.apply(samples)
	l.changed = l.changed || changed
	if changed && !l.options.KeepPayload {
		payload.Clear(profile)
	}
}

// maxAttributes is the maximum number of attributes of a sample that is split. Each part repeats
// them: a message of 2 MB, with a million attributes on a hundred thousand observations, would grow
// to 100 GB. Profilers use about ten.
const maxAttributes = 32

// MaxGrowth is the maximum factor by which linking enlarges a message. An observation has 8 bytes.
// It may become a separate sample with a stack, maxAttributes attributes of three bytes each, and
// an entry of 28 bytes in the link table.
const MaxGrowth = 20

// countUnsplit counts a sample that stays unchanged: it has no timestamps or too many attributes.
func (l *linker) countUnsplit(sample pprofile.Sample) {
	observations, reason := int64(sample.TimestampsUnixNano().Len()), Attributes
	if observations == 0 {
		observations, reason = 1, Aggregated
	}
	if sample.LinkIndex() != 0 {
		l.stats.Kept += observations
	} else {
		l.stats.Unlinked[reason] += observations
	}
}

// queryIndex copies the spans that overlap the tracks of a profile out of the index.
func (l *linker) queryIndex(program *Session) {
	x := l.index
	x.mu.Lock()
	defer x.mu.Unlock()
	x.expire(l.options.Now)
	l.tree.reset()
	l.runs = l.runs[:0]
	for i := range l.tracks.list {
		if p := &l.tracks.list[i]; p.isIdentified() {
			l.queryTrack(p, program)
			x.enforceLimits()
		}
	}
	l.tree.assignOrder()
	l.linkOf = filled(l.linkOf, len(l.tree.nodes), 0)
	l.links.Grow(len(l.tree.nodes))
}

// maxWork bounds the work for one message to about a second. Without the bound, a message of 1 MB
// could take a minute: 20,000 profiles of one instant each, on a thread with as many spans around
// that instant.
const maxWork = 1 << 22

// climbWork is the cost of looking up one ancestor in the index. There may be far more ancestors
// than overlapping spans.
const climbWork = 4

// queryTrack sets the runs of a track from the spans of the index.
func (l *linker) queryTrack(track *sampleTrack, program *Session) {
	end := max(track.last, track.last+1) // no span covers the largest timestamp
	of := l.sessionOf(track, program, end)
	if track.overBudget = l.work >= maxWork; track.overBudget {
		return
	}
	l.found = l.found[:0]
	if spans := of.tracks[track.thread]; spans != nil {
		l.found = spans.overlapping(&l.index.intervals, track.first, end, l.found)
	} else if track.mainThread && of.main != nil {
		l.work += len(l.tracks.list)
		if !l.tracks.hasThread(of.main.thread) {
			l.found = of.main.overlapping(&l.index.intervals, track.first, end, l.found)
			track.assumed = true
		}
	}
	if spans := of.tracks[""]; spans != nil && (track.soleThread || track.thread == l.options.Thread) {
		l.found = spans.overlapping(&l.index.intervals, track.first, end, l.found)
	}
	l.work += len(l.found)
	before := len(l.tree.nodes)
	begin := len(l.runs)
	l.runs = slices.Grow(l.runs, len(l.found))
	l.tree.grow(len(l.found))
	for _, r := range slices.Backward(l.found) { // by start
		i := l.index.intervals.At(r)
		l.runs = append(l.runs, spanRun{i.start, i.end, l.tree.add(l.index, r)})
	}
	l.work += climbWork * max(0, len(l.tree.nodes)-before-len(l.found))
	track.runs = l.runs[begin:]
	track.lost = of.lost
}

// sessionOf returns the session whose spans are candidates for a track: the first stated session
// that has spans or, failing that, the program's unstated spans, if they can only belong to the
// session of the track. It marks all of these sessions as linked up to end.
func (l *linker) sessionOf(track *sampleTrack, program *Session, end uint64) (of *session) {
	for _, key := range track.sessions {
		s := l.index.touch(key, l.options.Now) // even without spans: spans that arrive later are late
		s.linkedUpTo = max(s.linkedUpTo, end)
		if of == nil || len(of.tracks) == 0 {
			of = s
		}
	}
	if program != nil {
		l.index.noteProfile(program, track.sessions[0], l.options.Now)
		if len(of.tracks) == 0 && track.soleThread {
			if unstated := l.index.unstatedSession(program, track.sessions[0], l.options.Now); unstated != nil {
				unstated.linkedUpTo = max(unstated.linkedUpTo, end)
				of, track.assumed = unstated, true
			}
		}
	}
	return of
}
