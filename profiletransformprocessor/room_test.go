package profiletransformprocessor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
)

// TestNothingWaits: where nothing may wait, nobody asks without a pause whether something is due.
func TestNothingWaits(t *testing.T) {
	var r waitingRoom
	h, pause := r.takeDue(t.Context(), time.Now(), 0)
	assert.Nil(t, h)
	assert.Equal(t, leastPause, pause)
}

// The longer the next consumer refuses, the less often it is asked; refusals at a time are one.
func TestPauses(t *testing.T) {
	telemetry, err := newTelemetry(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	r, now := waitingRoom{maxCount: 9, maxBytes: 9, telemetry: telemetry}, time.Now()
	for range 2 {
		for _, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
			assert.Equal(t, want == 1, r.putBack(t.Context(), &held{}, now))
			assert.False(t, r.putBack(t.Context(), &held{}, now))
			h, pause := r.takeDue(t.Context(), now, 0)
			assert.Nil(t, h)
			assert.Equal(t, want*time.Second, pause)
			now = now.Add(pause)
		}
		r.unblock()
	}
}
