// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import "sync"

// uploadSlots limits concurrent uploads. If several apps share the slots, each may use as many as
// are free: one app gets half of them, n busy apps 1/(n+1) each, and some remain for the next app.
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

// acquire reports whether an app may upload another file. The caller then calls release.
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
