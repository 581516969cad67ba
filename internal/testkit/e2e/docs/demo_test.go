// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestDemo runs `make demo`. Every recording arrives with current times.
func TestDemo(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend})

	demo := exec.Command("make", "demo", "DSN=http://"+harness.TestKey+"@"+c.Address+"/1", "ROUNDS=2")
	demo.Dir = golden.Root(t)
	output, err := demo.CombinedOutput()
	require.NoError(t, err, "%s", output)

	messages := backend.DrainProfiles()
	var requests, profiles int
	_, summary, _ := strings.Cut(string(output), " accepted ")
	_, err = fmt.Sscanf(summary, "%d requests with %d profiles", &requests, &profiles)
	require.NoError(t, err, "%s", summary)
	require.Greater(t, profiles, 60, "%s", summary)
	require.Len(t, messages, profiles, "%s", summary)
	ids := map[string]bool{}
	for _, message := range messages {
		profiles, err := harness.DecodeProfiles(message)
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now(), harness.OnlyProfile(profiles).Time().AsTime(), 5*time.Minute)
		ids[harness.ProfileID(profiles)] = true
	}
	require.Len(t, ids, len(messages), "each with an id of its own")
}
