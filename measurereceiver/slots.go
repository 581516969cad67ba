// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import "sync"

// uploadSlots bounds uploads at a time. Of several apps, each may have as many as are left free: one alone gets half of them,
// n busy ones 1/(n+1) each, and the next app always finds some.
type uploadSlots struct {
	most   int
	shared bool // by several apps

	mu    sync.Mutex
	used  int
	byApp map[appID]int
}

func newUploadSlots(most int, shared bool) *uploadSlots {
	return &uploadSlots{most: most, shared: shared, byApp: map[appID]int{}}
}

// acquire reports whether an app may upload one more file. If so, release must follow.
func (s *uploadSlots) acquire(app appID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := s.most - s.used
	if free <= 0 || s.shared && s.byApp[app] >= free {
		return false
	}
	s.used++
	s.byApp[app]++
	return true
}

func (s *uploadSlots) release(app appID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	if s.byApp[app]--; s.byApp[app] == 0 {
		delete(s.byApp, app)
	}
}
