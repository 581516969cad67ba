// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/collector/component"
)

// SharedComponents holds components that serve all signals of a configuration, for instance because
// they listen on one address.
type SharedComponents[Config any, Shared component.Component] struct {
	PerConfig[Config, SharedComponent[Shared]]
}

// Acquire returns the component of a configuration. The first call, and the first one after its
// Shutdown, builds it.
func (m *SharedComponents[Config, Shared]) Acquire(cfg *Config, build func() (Shared, error)) (*SharedComponent[Shared], error) {
	return m.PerConfig.Acquire(cfg, func() (*SharedComponent[Shared], error) {
		shared, err := build()
		if err != nil {
			return nil, err
		}
		c := &SharedComponent[Shared]{Shared: shared}
		c.forget = func() { m.Forget(cfg, c) }
		return c, nil
	})
}

// SharedComponent serves all signals of a configuration. The collector starts and shuts it down
// once per signal.
type SharedComponent[Shared component.Component] struct {
	Shared Shared
	forget func()

	mu               sync.Mutex // held during Start and Shutdown
	started, stopped bool
}

var errStopped = errors.New("the component has been shut down")

// Start starts the shared component, unless another signal has started it.
func (c *SharedComponent[Shared]) Start(ctx context.Context, host component.Host) error {
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

// Shutdown stops the shared component for all signals, because the consumers of the first one shut
// down next. It also stops a component that was never started.
func (c *SharedComponent[Shared]) Shutdown(ctx context.Context) error {
	c.forget()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil
	}
	c.stopped = true
	return c.Shared.Shutdown(ctx)
}
