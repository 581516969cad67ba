// SPDX-License-Identifier: Apache-2.0

package broadcast

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestReadersSeeTheLastState: whenever a reader is woken, no change is missed.
func TestReadersSeeTheLastState(t *testing.T) {
	const last = 10_000
	var change Change
	var state atomic.Int64
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				next := change.Next()
				if state.Load() == last {
					return
				}
				<-next
			}
		})
	}
	for range last {
		state.Add(1)
		change.Notify()
	}
	readers.Wait()
}

func TestOneNotificationForManyChanges(t *testing.T) {
	var change Change
	change.Notify()
	next := change.Next()
	assert.Equal(t, next, change.Next())
	select {
	case <-next:
		assert.Fail(t, "nothing has changed since Next")
	default:
	}
	change.Notify()
	change.Notify()
	<-next
	assert.NotEqual(t, next, change.Next())
}
