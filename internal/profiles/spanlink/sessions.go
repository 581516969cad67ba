// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"container/list"
	"strings"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink/records"
)

// sessions finds the tracks of spans by session and thread. A session is in byKey and in two lists
// by use. A track exists while it has spans. Both count in the share of the session's tenant.
type sessions struct {
	shares *shares
	byKey  map[Session]*session
	recent list.List // sessions, most recently used first
	tracks records.Slab[trackRef, track]
}

func newSessions(shares *shares) *sessions {
	return &sessions{shares: shares, byKey: map[Session]*session{}}
}

// session has the spans of a session by thread. A session without spans stays in the index for a
// while, because it records which time ranges were linked or lost.
type session struct {
	Session
	share         *share
	tracks        map[string]*track
	main          *track // the main thread by its name, if a span states it
	touched       arrival
	recentEntries [2]*list.Element // in sessions.recent and share.recent
	linkedUpTo    uint64           // profiles of the session were linked up to this instant
	lost          [2]extent        // time ranges of lost spans, by lostKind
	program       *program         // only for unstated spans of a program
}

// track has the spans of one thread of a session.
type track struct {
	ref       trackRef
	session   *session
	thread    string
	intervals intervalTree
}

// lostKind is the reason why a span left the index.
type lostKind int

const (
	lostEvicted lostKind = iota // the index was full
	lostExpired                 // too old
)

// extent is the range from the first to the last of some intervals.
type extent struct{ from, to uint64 }

func (h *extent) add(from, to uint64) {
	if from == to {
		return
	}
	if h.to == 0 {
		h.from = from
	}
	h.from, h.to = min(h.from, from), max(h.to, to)
}

func (h extent) contains(instant uint64) bool { return h.from <= instant && instant < h.to }

// touch returns a session, which it adds if necessary, and makes it the most recently used one.
func (x *sessions) touch(key Session, at time.Duration) *session {
	s := x.byKey[key]
	if s == nil {
		t := x.shares.tenant(key.Tenant)
		s = &session{Session: key.cloneFor(t.Tenant), share: &t.shares[key.kind()], tracks: map[string]*track{}}
		if s.Way == programWay {
			s.program = &program{}
		}
		s.recentEntries = [2]*list.Element{x.recent.PushFront(s), s.share.recent.PushFront(s)}
		x.byKey[s.Session] = s
		x.shares.addUse(s.share, s.size())
	}
	x.recent.MoveToFront(s.recentEntries[0])
	s.share.recent.MoveToFront(s.recentEntries[1])
	s.touched = newArrival(at, stated)
	return s
}

func (x *sessions) leastRecent() *session {
	if last := x.recent.Back(); last != nil {
		return last.Value.(*session)
	}
	return nil
}

func (x *sessions) drop(s *session) {
	x.recent.Remove(s.recentEntries[0])
	s.share.recent.Remove(s.recentEntries[1])
	delete(x.byKey, s.Session)
	x.shares.removeUse(s.share, s.size())
	x.shares.release(s.share.tenant)
}

// track returns the track of a thread, which it adds if necessary.
func (x *sessions) track(key Session, thread string, at time.Duration) *track {
	s := x.touch(key, at)
	l := s.tracks[thread]
	if l == nil {
		ref := x.tracks.Alloc()
		l = x.tracks.At(ref)
		*l = track{ref: ref, session: s, thread: strings.Clone(thread)}
		s.tracks[l.thread] = l
		x.shares.changeSize(s.share, l.size())
	}
	return l
}

// dropTrack removes a track if it has no spans.
func (x *sessions) dropTrack(l *track) {
	if l.intervals.count == 0 {
		delete(l.session.tracks, l.thread)
		if l.session.main == l {
			l.session.main = nil
		}
		x.shares.changeSize(l.session.share, -l.size())
		x.tracks.Release(l.ref)
	}
}

// noteProfile records that a profile of a program arrived, and its session.
func (x *sessions) noteProfile(program *Session, of Session, at time.Duration) {
	s := x.touch(*program, at)
	s.program.noteProfile(of, s.share.tenant.Tenant, at)
}

// kind returns the kind of the spans of a session.
func (s *Session) kind() kind {
	if s.Way == programWay {
		return unstated
	}
	return stated
}

// size returns the memory that the session uses, without its tracks.
func (s *session) size() int64 {
	size := sessionSize + s.textSize()
	if s.program != nil {
		size += programSize
	}
	return size
}

// size returns the memory that the track uses, without its spans.
func (t *track) size() int64 { return int64(trackSize + len(t.thread)) }
