// SPDX-License-Identifier: Apache-2.0

// Package gatetest supports tests of what stands behind a gate.
package gatetest

import (
	"sync"
	"time"
)

// Clock is a time to go by: the real one and what was skipped, until it is stopped.
type Clock struct {
	mu      sync.Mutex
	stopped time.Time
	skipped time.Duration
}

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped.IsZero() {
		return c.stopped.Add(c.skipped)
	}
	return time.Now().Add(c.skipped)
}

// Stop has it go on by Skip only.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = time.Now()
}

// Skip moves it on.
func (c *Clock) Skip(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped += d
}
