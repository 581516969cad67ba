// SPDX-License-Identifier: Apache-2.0

// Package broadcast notifies any number of readers of changes. It has no queue per reader: a slow
// reader finds one notification for all changes since its last one.
package broadcast

import "sync"

// Change notifies readers of repeated changes. Its zero value is ready to use.
type Change struct {
	mu   sync.Mutex
	next chan struct{} // nil: nobody waits
}

// Next returns a channel that the next Notify closes. To avoid missing a change, call it before
// reading the state that changes.
func (c *Change) Next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// Notify wakes all readers that wait.
func (c *Change) Notify() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}
