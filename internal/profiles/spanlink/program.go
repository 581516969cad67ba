// SPDX-License-Identifier: Apache-2.0

package spanlink

import "time"

// programWay marks the session of the spans of a program that state none: see Keys.Program.
const programWay = -1

// program is what is known of a program whose spans state no session. They are of a session only if it is the only one that has
// profiles, and no other span of the program states any: else the spans that do not are of processes without a profiler.
type program struct {
	sole   Session       // the one whose profile came last
	seen   time.Duration // when that came
	others time.Duration // when the last profile of another session came
	stated time.Duration // when the last span came that states a session
	known  struct{ sole, others, stated bool }
}

// sawProfile says that a profile of a program has come.
func (x *Index) sawProfile(key *Session, of Session, now time.Time) {
	s := x.touch(*key, now)
	p := s.program
	if p.sole != of {
		if p.known.sole {
			p.others, p.known.others = p.seen, true
		}
		p.sole = of.in(s.share.tenant)
	}
	p.seen, p.known.sole = x.since(now), true
}

// sawSession says that a span of a program states its session.
func (x *Index) sawSession(key *Session, now time.Time) {
	p := x.touch(*key, now).program
	p.stated, p.known.stated = x.since(now), true
}

// unstatedOf gives the unstated spans of a program if they can only be of this session, else nil.
func (x *Index) unstatedOf(key *Session, of Session, now time.Time) *session {
	s := x.sessions[*key]
	if s == nil || s.program.sole != of {
		return nil
	}
	p, live := s.program, x.since(now)-x.limits.Keep
	if p.known.others && p.others >= live || p.known.stated && p.stated >= live {
		return nil
	}
	return s
}
