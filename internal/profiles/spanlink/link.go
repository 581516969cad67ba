// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"sync"
	"time"
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/payload"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Link links the samples of a message to spans of the index. It changes the message.
func (x *Index) Link(p pprofile.Profiles, o Options) LinkStats {
	x.expire(o.Now)
	if o.Memory > 0 && o.Memory < sampleMemory(p) {
		var stats LinkStats
		stats.Unlinked[Evicted] = Observations(p)
		return stats
	}
	l := newLinker(x, p, o)
	defer l.release()
	eachProfile(&x.keys, o.Tenant, p, func(profile pprofile.Profile, of *origin) bool {
		l.profile(profile, of)
		return true
	})
	if o.Work != nil {
		*o.Work += int64(l.work)
	}
	if l.linked && l.changed {
		dictionary.Compact(p) // links may be unreferenced now, and samples equal
	}
	return l.stats
}

// CanLink reports whether a span could exist for any sample of a message of an authenticated
// tenant. It also records the sessions of the message in the index, because they affect other
// messages while this one waits.
func (x *Index) CanLink(tenant string, p pprofile.Profiles, now time.Time) bool {
	var tracks sampleTracks
	tracks.readDictionary(&x.keys, p.Dictionary())
	concerned := false
	eachProfile(&x.keys, tenant, p, func(profile pprofile.Profile, of *origin) bool {
		track := tracks.firstIdentified(profile, of)
		concerned = concerned || track != nil
		if track != nil && of.program != nil {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.noteProfile(of.program, track.sessions[0], now)
			x.enforceLimits()
			return true
		}
		return !concerned
	})
	return concerned
}

// eachProfile visits the profiles of a message.
func eachProfile(keys *compiledKeys, tenant string, p pprofile.Profiles, do func(pprofile.Profile, *origin) bool) {
	for _, resource := range p.ResourceProfiles().All() {
		ofResource := keys.resource(tenant, resource.Resource().Attributes())
		for _, scope := range resource.ScopeProfiles().All() {
			ofScope := ofResource
			keys.read(scope.Scope().Attributes(), &ofScope.values)
			for _, profile := range scope.Profiles().All() {
				if !do(profile, &ofScope) {
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

	work    int  // so far, see maxWork
	limit   int  // of the work
	linked  bool // a sample already had a link
	changed bool // the link of a sample has changed

	// The current profile. Later messages reuse the memory.
	tracks    sampleTracks
	window    window
	more      window    // of spans that state no thread
	runs      []spanRun // of the window
	tree      spanTree
	linkOf    []dictionary.LinkIndex // by position in the tree; 0 if not yet known
	timelines timelineBuilder
	split     splitter
}

var linkers = sync.Pool{New: func() any { return new(linker) }}

func newLinker(x *Index, p pprofile.Profiles, o Options) *linker {
	return linkers.Get().(*linker).begin(x, p, o)
}

func (l *linker) begin(x *Index, p pprofile.Profiles, o Options) *linker {
	l.index, l.options, l.stats, l.work, l.linked, l.changed = x, o, LinkStats{}, 0, false, false
	l.limit = maxWork(Observations(p))
	if o.Memory > 0 {
		l.limit = min(l.limit, int((o.Memory-sampleMemory(p))/bytesPerWork))
	}
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

// memory returns the size of the memory that a pooled linker keeps.
func (l *linker) memory() int {
	tree, active := &l.tree, &l.timelines.activeSpans
	spans := bytesOf(tree.nodes) + bytesOf(tree.indexed) + bytesOf(tree.positions) + bytesOf(tree.firstChild) + bytesOf(tree.nextSibling) +
		bytesOf(tree.visitedBy) + bytesOf(l.runs) + bytesOf(l.window.found) + bytesOf(l.more.found) + bytesOf(l.linkOf)
	timelines := bytesOf(l.timelines.sections) + bytesOf(l.timelines.cells) +
		bytesOf(active.ends) + bytesOf(active.byPost) + bytesOf(active.byPre) + bytesOf(active.byStart)
	samples := bytesOf(l.tracks.bySample) + bytesOf(l.tracks.slots) + bytesOf(l.tracks.texts) + 400*cap(l.tracks.list) +
		bytesOf(l.split.samples) + bytesOf(l.split.parts) + bytesOf(l.split.sequences) + bytesOf(l.split.times) + bytesOf(l.split.values) + bytesOf(l.split.partOf)
	return spans + timelines + samples
}

func bytesOf[T any](list []T) int {
	var record T
	return cap(list) * int(unsafe.Sizeof(record))
}

// profile links the samples of one profile.
func (l *linker) profile(profile pprofile.Profile, of *origin) {
	program := of.program
	l.tracks.read(profile, of, l.options.Shift)
	if l.options.Session != (Session{}) {
		l.tracks.setSession(l.options.Session)
		program = nil
	}
	l.timelines.reset()
	l.tree.reset()
	for i := range l.tracks.list {
		l.track(&l.tracks.list[i], program)
	}
	l.linkOf = filled(l.linkOf, len(l.tree.nodes), 0)
	l.links.Grow(min(len(l.tree.nodes), l.tracks.observations))

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

// Work is counted in units of about 100 ns: an entry or a span of the index that is visited is one.
// The limit of a message follows from its size, so that a small message is never expensive: an
// instant may be covered by any number of spans, and there may be any number between two instants.
const (
	// minWork is enough for 20,000 spans, which takes 10 ms.
	minWork = 1 << 16
	// workPerObservation is enough for 40 spans. A busy thread, with 4,000 spans and a hundred
	// observations per second, needs as many.
	workPerObservation = 1 << 7
	// mostWork is enough for 1.4 million spans, which takes about half a second and 150 MB.
	mostWork = 1 << 22

	foundWork = 2  // of a span that is found, in addition to the visit
	climbWork = 4  // of an ancestor of a found span, because it is somewhere else in memory
	trackWork = 16 // of a track
	stepsWork = 16 // steps to ancestors, after they were copied, per unit
)

func maxWork(observations int64) int {
	return int(min(minWork+workPerObservation*observations, mostWork))
}

// MaxMemory returns the maximum memory, in bytes, that linking a message needs in addition to the
// message and the result.
func MaxMemory(p pprofile.Profiles) int64 {
	return int64(maxWork(Observations(p)))*bytesPerWork + sampleMemory(p)
}

// sampleMemory returns the part of MaxMemory that does not depend on the work.
func sampleMemory(p pprofile.Profiles) int64 {
	return bytesPerObservation*Observations(p) + bytesPerTrack*int64(p.SampleCount())
}

const (
	// bytesPerWork: a span that is found needs at least three units of work. It has a node, two
	// sections, two cells and a link: 92 bytes in all, in lists that may be half empty. The heaps
	// and lists of a window are small, because a window has at most 2 × maxConcurrent spans.
	bytesPerWork = 64
	// bytesPerObservation is for splitter and sampleTracks.
	bytesPerObservation = 40
	// bytesPerTrack includes the keys of sampleTracks. Each sample may be of its own thread.
	bytesPerTrack = 700
)

// maxConcurrent is the maximum number of spans of a track that cover one instant. Event loops have
// some thousands of open requests.
const maxConcurrent = 1 << 16

// track finds the spans of a track, and builds its timeline.
func (l *linker) track(track *sampleTrack, program *Session) {
	l.timelines.begin()
	if track.isIdentified() {
		end := max(track.last, track.last+1) // no span covers the largest timestamp
		for from := track.first; ; from = l.window.to {
			l.window.from, l.window.to = from, end
			until := from
			if l.query(track, program) {
				l.tree.assignOrder()
				var steps int
				steps, until = l.timelines.add(&l.tree, l.runs, l.options.Ambiguous, from, l.window.to, stepsWork*(l.limit-l.work))
				l.work += steps / stepsWork
			}
			if until < l.window.to {
				track.limited, track.limitedFrom = true, until
				l.timelines.addUnknown(until)
			}
			if track.limited || l.window.to >= end {
				break
			}
		}
	}
	track.timeline = l.timelines.end(track.first, track.last)
}

// query copies the spans that overlap the window of a track out of the index, and their ancestors.
// It may shorten the window. It fails at the work limit.
func (l *linker) query(track *sampleTrack, program *Session) (ok bool) {
	x := l.index
	x.mu.Lock()
	defer x.mu.Unlock()
	defer x.enforceLimits() // sessions may be new
	w := &l.window
	of := l.sessionOf(track, program, max(track.last, track.last+1))
	track.lost = of.lost
	l.work += trackWork
	spans := of.tracks[track.thread]
	if spans == nil && track.mainThread && of.main != nil && !l.tracks.hasThread(of.main.thread) {
		spans, track.assumed = of.main, true
	}
	if !l.find(w, spans) {
		return false
	}
	l.more.found = l.more.found[:0]
	if spans := of.tracks[""]; spans != nil && (track.soleThread || track.thread == l.options.Thread) {
		l.more.from, l.more.to = w.from, w.to
		if !l.find(&l.more, spans) {
			return false
		}
		w.to = l.more.to
	}
	count := len(w.found) + len(l.more.found)
	if l.work += foundWork * count; l.work > l.limit { // before the memory is allocated
		return false
	}
	l.runs = l.runs[:0]
	l.tree.beginPart(count)
	for _, found := range [...][]intervalRef{w.found, l.more.found} {
		for _, r := range found { // by start
			i := x.intervals.At(r)
			if i.start >= w.to {
				break
			}
			l.runs = append(l.runs, spanRun{i.start, i.end, l.tree.add(x, r, (l.limit-l.work)/climbWork)})
			if l.work += climbWork * l.tree.takeClimbed(); l.work > l.limit {
				return false
			}
		}
	}
	return true
}

// find finds the spans of a track that overlap a window. The track may be nil.
func (l *linker) find(w *window, spans *track) (ok bool) {
	w.found = w.found[:0]
	if spans == nil {
		return true
	}
	ok = w.find(&l.index.intervals, &spans.intervals, l.index.maxFound, l.limit-l.work)
	l.work += w.visited
	return ok
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
