// SPDX-License-Identifier: Apache-2.0

// Package pipelinetest has a clock for tests of circuit breakers.
package pipelinetest

import (
	"sync"
	"time"
)

// Clock is the real time plus the skipped time. A stopped clock advances by Skip only.
type Clock struct {
	mu      sync.Mutex
	stopped time.Time
	skipped time.Duration
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped.IsZero() {
		return c.stopped.Add(c.skipped)
	}
	return time.Now().Add(c.skipped)
}

// Stop stops the clock.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = time.Now()
}

// Skip advances the clock.
func (c *Clock) Skip(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped += d
}
