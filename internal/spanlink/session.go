package spanlink

import (
	"container/list"
	"strings"
	"time"
)

// session has the spans of a session by thread. One without spans is remembered too: what was linked and what was lost.
type session struct {
	Session
	lanes      map[string]*lane
	touched    time.Duration
	place      *list.Element // in Index.recent
	linkedUpTo uint64        // profiles of the session have been linked up to this instant
	lost       [2]hull       // where spans were, by lostKind
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
		s = &session{Session: key.clone(), lanes: map[string]*lane{}}
		s.place = x.recent.PushFront(s)
		x.sessions[s.Session] = s
	}
	x.recent.MoveToFront(s.place)
	s.touched = x.since(now)
	for len(x.sessions) > x.limits.Spans {
		if oldest := x.leastRecent(); len(oldest.lanes) == 0 {
			x.forget(oldest)
		} else {
			x.stats.Evicted++
			x.drop(lostEvicted)
		}
	}
	return s
}

func (x *Index) leastRecent() *session {
	if last := x.recent.Back(); last != nil {
		return last.Value.(*session)
	}
	return nil
}

func (x *Index) forget(s *session) {
	x.recent.Remove(s.place)
	delete(x.sessions, s.Session)
}

// lane gives the lane of a thread, which is there from then on.
func (x *Index) lane(key Session, thread string, now time.Time) *lane {
	s := x.touch(key, now)
	l := s.lanes[thread]
	if l == nil {
		l = &lane{session: s, thread: strings.Clone(thread)}
		s.lanes[l.thread] = l
	}
	return l
}

func (s Session) clone() Session {
	s.Tenant = strings.Clone(s.Tenant)
	for i := range s.Parts {
		s.Parts[i] = strings.Clone(s.Parts[i])
	}
	return s
}
