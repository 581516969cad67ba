// SPDX-License-Identifier: Apache-2.0

package spanlink

import "time"

// programWay marks the session of a program's unstated spans, see Keys.Program.
const programWay = -1

// program determines the session of the unstated spans of a program. They belong to a session only
// if it is the only one with profiles, and no span of the program states a session. Otherwise,
// unstated spans may come from processes without a profiler.
type program struct {
	latest   Session       // the session of the last profile
	latestAt time.Duration // arrival of that profile
	otherAt  time.Duration // arrival of the last profile of another session
	statedAt time.Duration // arrival of the last span that states a session
	has      struct{ latest, otherAt, statedAt bool }
}

// noteProfile records that a profile of a program arrived.
func (x *Index) noteProfile(key *Session, of Session, now time.Time) {
	s := x.touch(*key, now)
	p := s.program
	if p.latest != of {
		if p.has.latest {
			p.otherAt, p.has.otherAt = p.latestAt, true
		}
		p.latest = of.cloneFor(s.share.tenant)
	}
	p.latestAt, p.has.latest = x.sinceStart(now), true
}

// noteStatedSession records that a span of a program states its session.
func (x *Index) noteStatedSession(key *Session, now time.Time) {
	p := x.touch(*key, now).program
	p.statedAt, p.has.statedAt = x.sinceStart(now), true
}

// unstatedSession returns the unstated spans of a program if they can belong only to the given
// session. Otherwise it returns nil.
func (x *Index) unstatedSession(key *Session, of Session, now time.Time) *session {
	s := x.sessions[*key]
	if s == nil || s.program.latest != of {
		return nil
	}
	p, live := s.program, x.sinceStart(now)-x.limits.MaxAge
	if p.has.otherAt && p.otherAt >= live || p.has.statedAt && p.statedAt >= live {
		return nil
	}
	return s
}
