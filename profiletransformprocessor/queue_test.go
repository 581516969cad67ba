// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
)

// TestNothingWaits: where nothing may wait, nobody asks without a pause whether something is due.
func TestNothingWaits(t *testing.T) {
	r := newWaitQueue(&Config{}, nil)
	h, pause := r.popDue(t.Context(), time.Now())
	assert.Nil(t, h)
	assert.Equal(t, minPause, pause)
}

// TestHeldIsShown: the viewer in the same process knows how many messages wait for their spans.
func TestHeldIsShown(t *testing.T) {
	before, _ := notices.Shared.Held()
	t.Run("held", func(t *testing.T) {
		h := start(t, "link: {wait: 40s}")
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
		messages, wait := notices.Shared.Held()
		assert.Equal(t, before+1, messages)
		assert.Equal(t, 40*time.Second, wait)
	})
	after, _ := notices.Shared.Held()
	assert.Equal(t, before, after)
}
