// SPDX-License-Identifier: Apache-2.0

//go:build symbols

package symbols

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

const (
	totalMiB = 1024 // of all files
	maxRSS   = 256  // MiB
)

// TestMemory: the collector opens 1 GiB of symbol files of all kinds with its default limits, one
// after another, and then uses all of them again. The garbage collector has no limit of memory.
func TestMemory(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "off")
	directory, backend := t.TempDir(), harness.NewSink(t)
	subjects := generate(t, directory)
	total := int64(0)
	for _, s := range subjects {
		total += s.bytes
	}
	require.GreaterOrEqual(t, total>>20, int64(totalMiB))
	c := harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers: {sentry: {endpoint: "ENDPOINT"}}
processors: {symbolicate: {store: {directory: "%s"}}}
exporters: {otlp_http: {endpoint: "%s", sending_queue: {enabled: false}}}
service: {pipelines: {profiles: {receivers: [sentry], processors: [symbolicate], exporters: [otlp_http]}}}
`, directory, backend.URL())})
	t.Logf("%d files, %d MiB; at the start, the collector has %d MiB", len(subjects), total>>20, c.PeakMemory())
	// eventually sends a profile until it has names.
	eventually := func(s subject) {
		text := ""
		named := assert.Eventually(t, func() bool {
			got := c.Send(t, s.chunk.Request())
			require.Equal(t, http.StatusOK, got.Status, got.Body)
			profiles, err := harness.DecodeProfiles(backend.OneProfile(t))
			require.NoError(t, err)
			text = dictionarytest.Dump(profiles)
			for _, name := range s.want {
				if !strings.Contains(text, name) {
					return false
				}
			}
			return true
		}, 10*time.Minute, 200*time.Millisecond)
		if !named {
			t.Fatalf("%s: %q is not in\n%.4000s", s.kind, s.want, text)
		}
	}
	type rate struct {
		files int
		bytes int64
		cpu   time.Duration
		peak  int
	}
	rates := map[string]*rate{}
	for _, round := range []string{"indexing and opening", "again"} {
		clear(rates)
		for _, s := range subjects {
			c.ResetPeakMemory()
			before := c.CPUTime(t)
			eventually(s)
			r := rates[s.kind]
			if r == nil {
				r = &rate{}
				rates[s.kind] = r
			}
			r.files, r.bytes, r.cpu, r.peak = r.files+1, r.bytes+s.bytes, r.cpu+c.CPUTime(t)-before, max(r.peak, c.RequirePeakMemory(t))
			assert.LessOrEqual(t, c.PeakMemory(), maxRSS, "MiB during %s of %s", round, s.kind)
		}
		for kind, r := range rates {
			t.Logf("%s: %s: %d files, %d MiB in %.1f CPU-seconds, %.0f MiB/s, peak %d MiB", round, kind, r.files, r.bytes>>20, r.cpu.Seconds(), float64(r.bytes>>20)/r.cpu.Seconds(), r.peak)
		}
	}
	t.Logf("load average %s", harness.LoadAverage())
}
