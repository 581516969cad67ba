// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// poster is a process that only posts bodies with net/http: the least that a second HTTP exchange costs.
type poster struct {
	in  io.Writer
	out *bufio.Scanner
}

const (
	posterURL    = "LOAD_POSTER_URL"
	posterBodies = "LOAD_POSTER_BODIES" // a folder
)

// newPoster starts a poster of the envelopes of a mix.
func newPoster(t *testing.T, m mix, url string) *poster {
	folder := t.TempDir()
	for i, l := range m.loads {
		zipped, _ := l.sentry.fresh()
		require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%04d", i)), zipped, 0o600))
	}
	command := exec.Command(os.Args[0], "-test.run=^TestPoster$")
	command.Env = append(os.Environ(), posterURL+"="+url, posterBodies+"="+folder)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait()
	})
	return &poster{in, bufio.NewScanner(out)}
}

// send posts for a second, and returns the CPU time of the process.
func (p *poster) send(t *testing.T) time.Duration {
	_, err := io.WriteString(p.in, "send\n")
	require.NoError(t, err)
	require.True(t, p.out.Scan(), "the poster has ended")
	nanoseconds, err := strconv.ParseInt(p.out.Text(), 10, 64)
	require.NoError(t, err, p.out.Text())
	return time.Duration(nanoseconds)
}

// TestPoster is the process of a poster. For each line of its input it posts teeRate bodies, and prints its CPU time in nanoseconds.
func TestPoster(t *testing.T) {
	url := os.Getenv(posterURL)
	if url == "" {
		t.Skip("runs in a process of its own")
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv(posterBodies), "*"))
	require.NoError(t, err)
	var bodies [][]byte
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		bodies = append(bodies, body)
	}
	client := loadClient()
	cpu := func() int64 {
		var used syscall.Rusage
		require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
		return used.Utime.Nano() + used.Stime.Nano()
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		before, begin := cpu(), time.Now()
		for i := range teeRate {
			time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / teeRate)))
			resp, err := client.Post(url, "application/x-sentry-envelope", bytes.NewReader(bodies[i%len(bodies)]))
			require.NoError(t, err)
			_, _ = io.Copy(io.Discard, resp.Body)
			require.Equal(t, http.StatusOK, resp.StatusCode)
			require.NoError(t, resp.Body.Close())
		}
		fmt.Println(cpu() - before)
	}
}
