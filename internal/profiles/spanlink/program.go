// SPDX-License-Identifier: Apache-2.0

package spanlink

import "time"

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

// noteProfile records that a profile of the program arrived. The session is copied for a tenant.
func (p *program) noteProfile(of Session, t Tenant, at time.Duration) {
	if p.latest != of {
		if p.has.latest {
			p.otherAt, p.has.otherAt = p.latestAt, true
		}
		p.latest = of.cloneFor(t)
	}
	p.latestAt, p.has.latest = at, true
}

// noteStated records that a span of the program states its session.
func (p *program) noteStated(at time.Duration) { p.statedAt, p.has.statedAt = at, true }

// belongsTo reports whether the unstated spans can belong only to a session, by everything that
// arrived after a time.
func (p *program) belongsTo(session Session, after time.Duration) bool {
	return p.latest == session && !(p.has.otherAt && p.otherAt >= after) && !(p.has.statedAt && p.statedAt >= after)
}
