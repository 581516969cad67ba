// Package byconfig finds what the components of one id share: the collector creates one component per signal and gives all of
// them the same *Config.
package byconfig

import "sync"

// Map holds what is shared, by configuration. There is no counting of references, as in other shared components: what has been
// stopped for one signal is of no use to the others.
type Map[Config, Shared any] struct {
	mu  sync.Mutex
	all map[*Config]*Shared
}

// Acquire gives what belongs to a configuration, made by make if there is nothing yet.
func (m *Map[Config, Shared]) Acquire(cfg *Config, make func() (*Shared, error)) (*Shared, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.all[cfg]; s != nil {
		return s, nil
	}
	s, err := make()
	if err != nil {
		return nil, err
	}
	if m.all == nil {
		m.all = map[*Config]*Shared{}
	}
	m.all[cfg] = s
	return s, nil
}

// Forget makes Acquire give a fresh one.
func (m *Map[Config, Shared]) Forget(cfg *Config, s *Shared) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all[cfg] == s {
		delete(m.all, cfg)
	}
}

// Len is how many configurations have something.
func (m *Map[Config, Shared]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.all)
}
