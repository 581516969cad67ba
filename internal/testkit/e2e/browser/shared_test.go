// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"sync"
	"testing"
)

// shared is a thing that several tests use at the same time. Each of them calls use before
// t.Parallel, so that all are known when the first one runs; the last one that ends stops the
// thing.
type shared[T any] struct {
	start func(t *testing.T) T
	stop  func(t *testing.T, thing T)

	mu      sync.Mutex
	users   int
	started bool
	thing   T
}

// use returns a function that returns the thing. Its first call starts the thing.
func (s *shared[T]) use(t *testing.T) (get func() T) {
	s.mu.Lock()
	s.users++
	s.mu.Unlock()
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.users--; s.users == 0 && s.started {
			s.started = false
			s.stop(t, s.thing)
		}
	})
	return func() T {
		t.Helper()
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.started {
			s.thing = s.start(t) // if it fails, so does the start of the next test
			s.started = true
		}
		return s.thing
	}
}
