// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

// query finds the spans of the tracks of a message, and builds their timelines. The message limits
// its work. It copies what it needs of the index, because the index may change during a pause.
type query struct {
	index   *Index
	options *Options
	work    int // so far, see maxWork
	limit   int // of the work

	// The current profile. Later messages reuse the memory.
	tracks    sampleTracks
	tree      spanTree
	timelines timelineBuilder
	from, to  uint64        // the current window of time
	runs      []spanRun     // of the window
	found     []intervalRef // of the last step
}

func (q *query) begin(x *Index, o *Options, p pprofile.Profiles) {
	q.index, q.options, q.work, q.limit = x, o, 0, maxWork(Observations(p))
	if o.Memory > 0 {
		q.limit = min(q.limit, int((o.Memory-sampleMemory(p))/bytesPerWork))
	}
	q.tracks.readDictionary(&x.keys, p.Dictionary())
}

// release drops references to the message and the index.
func (q *query) release() {
	q.tracks.release()
	q.index, q.options = nil, nil
}

func (q *query) memory() int {
	tree, active := &q.tree, &q.timelines.activeSpans
	return bytesOf(tree.nodes) + bytesOf(tree.last) + bytesOf(tree.positions) + bytesOf(tree.firstChild) + bytesOf(tree.nextSibling) + bytesOf(tree.visitedBy) +
		bytesOf(q.runs) + bytesOf(q.found) + bytesOf(q.timelines.sections) + bytesOf(q.timelines.cells) +
		bytesOf(active.ends) + bytesOf(active.byPost) + bytesOf(active.byPre) + bytesOf(active.byStart) +
		bytesOf(q.tracks.bySample) + bytesOf(q.tracks.slots) + bytesOf(q.tracks.texts) + 400*cap(q.tracks.list)
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

// find finds the tracks of the samples of a profile, with their timelines.
func (q *query) find(profile pprofile.Profile, of *origin) *sampleTracks {
	program := of.program
	q.tracks.read(profile, of, q.options.Shift)
	if q.options.Session != (Session{}) {
		q.tracks.setSession(q.options.Session)
		program = nil
	}
	q.timelines.reset()
	q.tree.reset()
	for i := range q.tracks.list {
		q.track(&q.tracks.list[i], program)
	}
	return &q.tracks
}

// track finds the spans of a track, and builds its timeline.
func (q *query) track(track *sampleTrack, program *Session) {
	q.timelines.begin()
	if track.isIdentified() {
		end := max(track.last, track.last+1) // no span covers the largest timestamp
		for from := track.first; ; from = q.to {
			q.from, q.to = from, end
			until := from
			if q.copySpans(track, program) {
				q.tree.assignOrder()
				var steps int
				steps, until = q.timelines.add(&q.tree, q.runs, q.options.Ambiguous, from, q.to, stepsWork*(q.limit-q.work))
				q.work += steps / stepsWork
			}
			if until < q.to {
				track.limited, track.limitedFrom = true, until
				q.timelines.addUnknown(until)
			}
			if track.limited || q.to >= end {
				break
			}
		}
	}
	track.timeline = q.timelines.end(track.first, track.last)
}

// copySpans copies the spans that overlap the window of a track out of the index, and their
// ancestors. It may shorten the window. It fails at the work limit.
func (q *query) copySpans(track *sampleTrack, program *Session) (ok bool) {
	x := q.index
	x.mu.Lock()
	defer x.unlock()
	defer x.store.enforceLimits() // sessions may be new
	of := q.sessionOf(track, program, max(track.last, track.last+1))
	track.lost = of.lost
	q.runs = q.runs[:0]
	q.tree.beginPart()
	thread := track.thread
	if of.tracks[thread] == nil && track.mainThread && of.main != nil && !q.tracks.hasThread(of.main.thread) {
		thread, track.assumed = of.main.thread, true
	}
	if !q.spend(trackWork) || !q.copyThread(of, thread) {
		return false
	}
	if track.soleThread || track.thread == q.options.Thread {
		if !q.copyThread(of, "") {
			return false
		}
		q.runs = slices.DeleteFunc(q.runs, func(r spanRun) bool { return r.start >= q.to }) // it may have shortened the window
	}
	return q.copyAncestors(of.share.tenant)
}

// spend counts work. It reports whether more work is allowed.
func (q *query) spend(work int) bool {
	q.work += work
	return q.work <= q.limit
}

// copyThread copies the spans of a thread, in steps.
func (q *query) copyThread(of *session, thread string) (ok bool) {
	all := &q.index.store.spans.intervals
	w := window{from: q.from, to: q.to, found: q.found}
	for done := false; !done; q.index.pause() {
		spans := of.tracks[thread] // not the same after a pause
		if spans == nil {
			break
		}
		done = w.find(all, &spans.intervals, q.index.maxFound, min(q.index.maxHeld/8, q.limit-q.work+1))
		q.found = w.found
		if !q.spend(w.visited+foundWork*len(w.found)) || w.atStart > maxConcurrent { // before the memory is allocated
			return false
		}
		for _, r := range w.found {
			i := all.At(r)
			q.runs = append(q.runs, spanRun{i.start, i.end, q.tree.add(q.index.store.spans, i)})
		}
		all.visited += foundWork * len(w.found)
	}
	q.to = w.to
	return true
}

// copyAncestors copies the ancestors of all spans of the last part of the tree.
func (q *query) copyAncestors(of *tenant) (ok bool) {
	spans := q.index.store.spans
	for at := q.tree.begin; at < len(q.tree.nodes); at++ {
		spans.intervals.visited++
		if q.tree.addParent(at, spans, of.ref) {
			spans.intervals.visited += climbWork
			if !q.spend(climbWork) {
				return false
			}
		}
		q.index.pause()
	}
	return true
}

// sessionOf returns the session whose spans are candidates for a track: the first stated session
// that has spans or, failing that, the program's unstated spans, if they can only belong to the
// session of the track. It marks all of these sessions as linked up to end.
func (q *query) sessionOf(track *sampleTrack, program *Session, end uint64) (of *session) {
	x := &q.index.store
	at := x.sinceStart(q.options.Now)
	for _, key := range track.sessions {
		s := x.sessions.touch(key, at) // even without spans: spans that arrive later are late
		s.linkedUpTo = max(s.linkedUpTo, end)
		if of == nil || len(of.tracks) == 0 {
			of = s
		}
	}
	if program == nil {
		return of
	}
	x.sessions.noteProfile(program, track.sessions[0], at)
	if len(of.tracks) > 0 || !track.soleThread {
		return of
	}
	if unstated := x.sessions.byKey[*program]; unstated.program.belongsTo(track.sessions[0], at-x.limits.MaxAge) {
		unstated.linkedUpTo = max(unstated.linkedUpTo, end)
		of, track.assumed = unstated, true
	}
	return of
}
