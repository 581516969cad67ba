// SPDX-License-Identifier: Apache-2.0

package tee

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// defaultFaultRounds take half a minute; FAULTS asks for others.
const defaultFaultRounds = 4

// TestFaults: Sentry fails and recovers, the pipeline refuses, the disk fills up, and the collector is killed at random moments. Each request
// that was answered arrives at Sentry, and each that was answered 200 has arrived at the OTLP backend.
func TestFaults(t *testing.T) {
	harness.Binary(t)
	rounds := defaultFaultRounds
	if n, err := strconv.Atoi(os.Getenv("FAULTS")); err == nil {
		rounds = n
	}
	seed := uint64(rand.IntN(1e6))
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) { faultRound(t, rand.New(rand.NewPCG(seed, uint64(round))), round%3 == 2) })
	}
}

func faultRound(t *testing.T, random *rand.Rand, fullDisk bool) {
	var down atomic.Int32 // status of Sentry; 0 = 200
	var mu sync.Mutex
	arrived := map[string]int{}
	upstream := newRecorder(t, func(w http.ResponseWriter, r *recorded) {
		if status := down.Load(); status != 0 {
			w.WriteHeader(int(status))
			return
		}
		mu.Lock()
		defer mu.Unlock()
		arrived[r.Body]++
	})
	backend := harness.NewSink(t)
	directory := t.TempDir()
	if fullDisk {
		if err := syscall.Mount("tmpfs", directory, "tmpfs", 0, "size=2m"); err != nil {
			t.Skip("a disk that is full: only root may mount a small file system")
		}
		t.Cleanup(func() { require.NoError(t, syscall.Unmount(directory, 0)) })
	}
	s := settings(backend, "upstream: '"+upstream.URL+"', storage: file_storage")
	s.Config = strings.Replace(s.Config, "extensions: [sentry_tee]", "extensions: [file_storage, sentry_tee]", 1)
	s.Config = strings.Replace(s.Config, "extensions:\n", "extensions:\n  file_storage: {directory: '"+directory+"'}\n", 1)
	c := harness.Start(t, s)
	ballast := filepath.Join(directory, "ballast")
	answered := map[string]bool{} // whether OTLP has it
	kills, filled := 0, false
	for n := range 150 {
		body := string(numbered(n))
		response, err := c.TrySend(harness.EnvelopeRequest([]byte(body)))
		require.NoError(t, err)
		require.Contains(t, []int{200, 429}, response.Status)
		if !filled { // else it may be in memory only when the collector is killed
			answered[body] = response.Status == 200 && response.Header.Get("X-Sentry-Rate-Limits") == ""
		}
		switch random.IntN(20) {
		case 0, 1:
			down.Store([]int32{0, 500, 503}[random.IntN(3)])
		case 2:
			backend.RespondTo(harness.LogsPath, []int{0, 503}[random.IntN(2)])
		case 3:
			if kills++; kills > 3 || filled {
				continue
			}
			c.Kill()
			c = harness.Start(t, s)
		case 4:
			if fullDisk && !filled {
				filled = true
				_ = os.WriteFile(ballast, make([]byte, 2<<20), 0o600) // as much as there is room for
			} else if filled {
				require.NoError(t, os.Remove(ballast))
				filled = false
			}
		}
	}
	down.Store(0)
	backend.RespondTo(harness.LogsPath, 0)
	missing := func() (bodies []string) {
		mu.Lock()
		defer mu.Unlock()
		for body := range answered {
			if arrived[body] == 0 {
				bodies = append(bodies, body)
			}
		}
		return bodies
	}
	assert.Eventually(t, func() bool { return len(missing()) == 0 }, 90*time.Second, 100*time.Millisecond, "Sentry has all that was answered")
	assert.Empty(t, missing())
	var otlp strings.Builder
	for _, message := range backend.Drain(harness.LogsPath) {
		otlp.Write(message)
	}
	for body, accepted := range answered {
		if number := body[strings.LastIndex(body, `"body":"`)+8:]; accepted {
			assert.Contains(t, otlp.String(), number[:strings.IndexByte(number, '"')], "OTLP has all that was answered 200")
		}
	}
	again := 0
	for _, times := range arrived {
		again += times - 1
	}
	t.Logf("%d requests answered, %d kills, %d arrived again at Sentry", len(answered), min(kills, 3), again)
}
