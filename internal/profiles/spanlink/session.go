// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"container/list"
	"strings"
	"time"
)

// session has the spans of a session by thread. One without spans is remembered too: what was linked and what was lost.
type session struct {
	Session
	share      *share
	lanes      map[string]*lane
	touched    time.Duration
	places     [2]*list.Element // in Index.recent and share.recent
	linkedUpTo uint64           // profiles of the session have been linked up to this instant
	lost       [2]hull          // where spans were, by lostKind
	program    *program         // nil but for the session of a program's unstated spans
}

// lostKind is why a span is no longer there.
type lostKind int

const (
	lostEvicted lostKind = iota // no room
	lostExpired                 // too old
)

// hull is the time from the first of some intervals to the last.
type hull struct{ from, to uint64 }

func (h *hull) add(from, to uint64) {
	if from == to {
		return
	}
	if h.to == 0 {
		h.from = from
	}
	h.from, h.to = min(h.from, from), max(h.to, to)
}

func (h hull) covers(instant uint64) bool { return h.from <= instant && instant < h.to }

// touch gives a session, which is there from then on.
func (x *Index) touch(key Session, now time.Time) *session {
	s := x.sessions[key]
	if s == nil {
		t := x.tenant(key.Tenant)
		s = &session{Session: key.in(t), share: &t.shares[key.kind()], lanes: map[string]*lane{}}
		if s.Way == programWay {
			s.program = &program{}
		}
		s.places = [2]*list.Element{x.recent.PushFront(s), s.share.recent.PushFront(s)}
		x.sessions[s.Session] = s
		x.enter(s.share, s.size())
	}
	x.recent.MoveToFront(s.places[0])
	s.share.recent.MoveToFront(s.places[1])
	s.touched = x.since(now)
	return s
}

func (x *Index) leastRecent() *session {
	if last := x.recent.Back(); last != nil {
		return last.Value.(*session)
	}
	return nil
}

func (x *Index) forget(s *session) {
	x.recent.Remove(s.places[0])
	s.share.recent.Remove(s.places[1])
	delete(x.sessions, s.Session)
	x.leave(s.share, s.size())
	x.dropTenant(s.share.tenant)
}

// lane gives the lane of a thread, which is there from then on.
func (x *Index) lane(key Session, thread string, now time.Time) *lane {
	s := x.touch(key, now)
	l := s.lanes[thread]
	if l == nil {
		l = &lane{session: s, thread: strings.Clone(thread)}
		s.lanes[l.thread] = l
		x.grow(s.share, l.size())
	}
	return l
}

// dropLane forgets a lane without spans.
func (x *Index) dropLane(l *lane) {
	if l.live == 0 {
		delete(l.session.lanes, l.thread)
		x.grow(l.session.share, -l.size())
	}
}

// kind of spans that are of a session.
func (s *Session) kind() kind {
	if s.Way == programWay {
		return unstated
	}
	return stated
}

// size in memory.
func (s *session) size() int64 {
	size := sessionSize + s.text()
	if s.program != nil {
		size += programSize
	}
	return size
}

// text is how long the texts are, but for the tenant's, which all of its sessions share.
func (s *Session) text() (size int64) {
	for _, part := range s.Parts {
		size += int64(len(part))
	}
	return size
}

// in gives the session with texts of its own: a message may have its texts in one piece, of which these would keep all.
func (s Session) in(t *tenant) Session {
	s.Tenant = t.name
	for i := range s.Parts {
		s.Parts[i] = strings.Clone(s.Parts[i])
	}
	return s
}
