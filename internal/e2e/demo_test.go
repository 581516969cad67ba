package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/golden"
)

// TestDemo: `make demo` as somebody without an SDK runs it. Every recording comes out, as of now.
func TestDemo(t *testing.T) {
	recordings, err := filepath.Glob(filepath.Join(golden.Root(t), "testdata", "cases", "sdk-*", "in.envelope"))
	require.NoError(t, err)
	backend := newSink(t)
	c := start(t, settings{sink: backend})

	demo := exec.Command("go", "run", "./internal/demo", "-endpoint", "http://"+c.address, "-rounds", "2")
	demo.Dir = golden.Root(t)
	output, err := demo.CombinedOutput()
	require.NoError(t, err, "%s", output)

	messages := backend.take()
	require.Len(t, messages, 2*len(recordings), "a profile of each request\n%s", output)
	ids := map[string]bool{}
	for _, message := range messages {
		profiles, err := decode(message)
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now(), onlyProfile(profiles).Time().AsTime(), 5*time.Minute)
		ids[profileID(profiles)] = true
	}
	require.Len(t, ids, len(messages), "each with an id of its own")
}
