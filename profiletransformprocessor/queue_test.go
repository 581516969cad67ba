// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestNothingWaits: where nothing may wait, nobody asks without a pause whether something is due.
func TestNothingWaits(t *testing.T) {
	r := newWaitQueue(&Config{}, nil)
	h, pause := r.popDue(t.Context(), time.Now())
	assert.Nil(t, h)
	assert.Equal(t, minPause, pause)
}
