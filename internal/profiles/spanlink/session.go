// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"container/list"
	"strings"
	"time"
)

// session has the spans of a session by thread. A session without spans stays in the index for a
// while, because it records which time ranges were linked or lost.
type session struct {
	Session
	share         *share
	tracks        map[string]*track
	main          *track // the main thread by its name, if a span states it
	touched       arrival
	recentEntries [2]*list.Element // in Index.recent and share.recent
	linkedUpTo    uint64           // profiles of the session were linked up to this instant
	lost          [2]extent        // time ranges of lost spans, by lostKind
	program       *program         // only for unstated spans of a program
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
func (x *Index) touch(key Session, now time.Time) *session {
	s := x.sessions[key]
	if s == nil {
		t := x.tenant(key.Tenant)
		s = &session{Session: key.cloneFor(t), share: &t.shares[key.kind()], tracks: map[string]*track{}}
		if s.Way == programWay {
			s.program = &program{}
		}
		s.recentEntries = [2]*list.Element{x.recent.PushFront(s), s.share.recent.PushFront(s)}
		x.sessions[s.Session] = s
		x.addUse(s.share, s.size())
	}
	x.recent.MoveToFront(s.recentEntries[0])
	s.share.recent.MoveToFront(s.recentEntries[1])
	s.touched = newArrival(x.sinceStart(now), stated)
	return s
}

func (x *Index) leastRecent() *session {
	if last := x.recent.Back(); last != nil {
		return last.Value.(*session)
	}
	return nil
}

func (x *Index) dropSession(s *session) {
	x.recent.Remove(s.recentEntries[0])
	s.share.recent.Remove(s.recentEntries[1])
	delete(x.sessions, s.Session)
	x.removeUse(s.share, s.size())
	x.dropTenant(s.share.tenant)
}

// track returns the track of a thread, which it adds if necessary.
func (x *Index) track(key Session, thread string, now time.Time) *track {
	s := x.touch(key, now)
	l := s.tracks[thread]
	if l == nil {
		ref := x.tracks.Alloc()
		l = x.tracks.At(ref)
		*l = track{ref: ref, session: s, thread: strings.Clone(thread)}
		s.tracks[l.thread] = l
		x.changeSize(s.share, l.size())
	}
	return l
}

// dropTrack removes a track if it has no spans.
func (x *Index) dropTrack(l *track) {
	if l.intervals.count == 0 {
		delete(l.session.tracks, l.thread)
		if l.session.main == l {
			l.session.main = nil
		}
		x.changeSize(l.session.share, -l.size())
		x.tracks.Release(l.ref)
	}
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

// textSize returns the length of the texts of a session, without the tenant name, which its
// sessions share.
func (s *Session) textSize() (size int64) {
	for _, part := range s.Parts {
		size += int64(len(part))
	}
	return size
}

// cloneFor returns a copy of the session with its own texts. Texts of a message may share one
// allocation, which would otherwise stay in memory.
func (s Session) cloneFor(t *tenant) Session {
	s.Tenant = t.Tenant
	for i := range s.Parts {
		s.Parts[i] = strings.Clone(s.Parts[i])
	}
	return s
}
