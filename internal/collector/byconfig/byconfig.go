// SPDX-License-Identifier: Apache-2.0

// Package byconfig finds what the components of one id share: the collector creates one component per signal and gives all of
// them the same *Config.
package byconfig

import "sync"

// Map holds what is shared, by configuration.
type Map[Config, Shared any] struct {
	mu  sync.Mutex
	all map[*Config]*entry[Shared]
}

type entry[Shared any] struct {
	shared *Shared
	users  int
}

// Acquire gives what belongs to a configuration, made by make if there is nothing yet.
func (m *Map[Config, Shared]) Acquire(cfg *Config, make func() (*Shared, error)) (*Shared, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.all[cfg]; e != nil {
		e.users++
		return e.shared, nil
	}
	s, err := make()
	if err != nil {
		return nil, err
	}
	if m.all == nil {
		m.all = map[*Config]*entry[Shared]{}
	}
	m.all[cfg] = &entry[Shared]{s, 1}
	return s, nil
}

// Release says that one who acquired it needs it no more, and whether that was the last. Then Acquire makes a fresh one.
func (m *Map[Config, Shared]) Release(cfg *Config, s *Shared) (last bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.all[cfg]
	if e == nil || e.shared != s {
		return false
	}
	if e.users--; e.users > 0 {
		return false
	}
	delete(m.all, cfg)
	return true
}

// Forget makes Acquire make a fresh one, whoever still needs this.
func (m *Map[Config, Shared]) Forget(cfg *Config, s *Shared) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.all[cfg]; e != nil && e.shared == s {
		delete(m.all, cfg)
	}
}

// Len is how many configurations have something.
func (m *Map[Config, Shared]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.all)
}
