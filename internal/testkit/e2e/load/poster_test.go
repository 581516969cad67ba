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
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// poster is a process that only posts bodies with net/http: the least that a second HTTP exchange
// costs.
type poster struct {
	in  io.Writer
	out *bufio.Scanner
}

// newPoster starts a poster of the envelopes of a mix.
func newPoster(t *testing.T, m mix, url string) *poster {
	command := testProcess(t, "TestPoster", url, m, func(l load) body { return l.sentry })
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

// TestPoster is the process of a poster. For each line of its input it posts teeRate bodies, and
// prints its CPU time in nanoseconds.
func TestPoster(t *testing.T) {
	url, bodies := processInput(t)
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
