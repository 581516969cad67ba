// SPDX-License-Identifier: Apache-2.0

// Package collector contains the shared code of the components: strict configuration, state that
// the signals of a configuration share, metrics, logs, and checksums of stored values.
package collector

import "sync"

// PerConfig holds state per configuration: the collector creates one component per signal and
// passes the same *Config to all of them.
type PerConfig[Config, Shared any] struct {
	mu  sync.Mutex
	all map[*Config]*user[Shared]
}

type user[Shared any] struct {
	shared *Shared
	count  int
}

// Acquire returns the state of a configuration. The first call builds it.
func (m *PerConfig[Config, Shared]) Acquire(cfg *Config, build func() (*Shared, error)) (*Shared, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u := m.all[cfg]; u != nil {
		u.count++
		return u.shared, nil
	}
	s, err := build()
	if err != nil {
		return nil, err
	}
	if m.all == nil {
		m.all = map[*Config]*user[Shared]{}
	}
	m.all[cfg] = &user[Shared]{shared: s, count: 1}
	return s, nil
}

// Release undoes one Acquire, and reports whether it was the last. After the last one, Acquire
// builds new state.
func (m *PerConfig[Config, Shared]) Release(cfg *Config, s *Shared) (last bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.all[cfg]
	if u == nil || u.shared != s {
		return false
	}
	if u.count--; u.count > 0 {
		return false
	}
	delete(m.all, cfg)
	return true
}

// Forget makes Acquire build new state, even if this one is still in use.
func (m *PerConfig[Config, Shared]) Forget(cfg *Config, s *Shared) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u := m.all[cfg]; u != nil && u.shared == s {
		delete(m.all, cfg)
	}
}
