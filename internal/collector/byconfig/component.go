// SPDX-License-Identifier: Apache-2.0

package byconfig

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/collector/component"
)

// Components holds components of which there is one for all signals of a configuration, as one that listens on an address.
type Components[Config any, Shared component.Component] struct {
	Map[Config, Component[Shared]]
}

// Acquire gives the component of a configuration, made by make if there is none, up to its first Shutdown.
func (m *Components[Config, Shared]) Acquire(cfg *Config, make func() (Shared, error)) (*Component[Shared], error) {
	return m.Map.Acquire(cfg, func() (*Component[Shared], error) {
		shared, err := make()
		if err != nil {
			return nil, err
		}
		c := &Component[Shared]{Shared: shared}
		c.forget = func() { m.Forget(cfg, c) }
		return c, nil
	})
}

// Component is the component of all signals of a configuration: the collector starts and shuts it down once for each.
type Component[Shared component.Component] struct {
	Shared Shared
	forget func()

	mu               sync.Mutex // held while it starts and stops
	started, stopped bool
}

var errStopped = errors.New("the component has been shut down")

// Start starts what is shared, if that of another signal has not.
func (c *Component[Shared]) Start(ctx context.Context, host component.Host) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopped:
		return errStopped
	case c.started:
		return nil
	}
	err := c.Shared.Start(ctx, host)
	c.started = err == nil
	return err
}

// Shutdown of the first signal stops it for all: from then on some of what it takes would have nowhere to go. It is shut down
// even if it has never been started.
func (c *Component[Shared]) Shutdown(ctx context.Context) error {
	c.forget()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil
	}
	c.stopped = true
	return c.Shared.Shutdown(ctx)
}
