// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestUploadSlots: however many uploads an app begins, another finds room; an app that is the only
// one has all of it.
func TestUploadSlots(t *testing.T) {
	a, b, c := appID{1}, appID{2}, appID{3}
	s := newUploadSlots(64, true)
	take := func(app appID) (n int) {
		for s.acquire(app) {
			n++
		}
		return n
	}
	assert.Equal(t, []int{32, 16, 8}, []int{take(a), take(b), take(c)})
	for range 32 {
		s.release(a)
	}
	assert.Equal(t, 12, take(b), "28 of b, and as many free")
	for range 28 {
		s.release(b)
	}
	for range 8 {
		s.release(c)
	}
	assert.Zero(t, s.used)
	assert.Empty(t, s.byApp)

	s = newUploadSlots(64, false)
	assert.Equal(t, 64, take(a))
	s = newUploadSlots(1, true)
	assert.Equal(t, []int{1, 0}, []int{take(a), take(b)})
}
