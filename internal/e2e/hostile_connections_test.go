package e2e

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Attacks that are not in what is sent, but in how.

// TestClaimedLength: a Content-Length is no reason to reserve memory.
func TestClaimedLength(t *testing.T) {
	backend := newSink(t)
	c := start(t, settings{sink: backend})
	const clients = 200
	for range clients {
		connection := c.dial(t)
		fmt.Fprintf(connection, "POST /api/42/envelope/ HTTP/1.1\r\nHost: x\r\nX-Sentry-Auth: %s\r\nContent-Length: %d\r\n\r\n{}\n",
			testAuth, 100<<20)
	}
	time.Sleep(500 * time.Millisecond)
	c.checkServing(t, backend)
	assert.Less(t, c.peakMemory(t), memorySmall, "MiB of memory for %d bodies of 100 MiB that do not come", clients)
	t.Logf("%d clients, peak memory %d MiB", clients, c.peakMemory(t))
}

// TestAbandonedBody: a client that goes away in the middle costs nothing, and is counted.
func TestAbandonedBody(t *testing.T) {
	backend := newSink(t)
	c := start(t, settings{sink: backend})
	for range 50 {
		connection := c.dial(t)
		fmt.Fprintf(connection, "POST /api/42/envelope/ HTTP/1.1\r\nHost: x\r\nX-Sentry-Auth: %s\r\nContent-Length: 1000\r\n\r\n{}\n", testAuth)
		connection.Close()
	}
	require.Eventually(t, func() bool {
		return c.scrape(t).sum("otelcol_receiver_sentry_requests_rejected", "reason=body_unreadable") == 50
	}, 10*time.Second, 50*time.Millisecond)
	c.checkServing(t, backend)
}

// TestSlowBody: a body that never ends costs one connection, for as long as read_timeout says.
func TestSlowBody(t *testing.T) {
	backend := newSink(t)
	c := start(t, settings{sink: backend, receiver: []string{"read_timeout: 1s"}})
	connection := c.dial(t)
	fmt.Fprintf(connection, "POST /api/42/envelope/ HTTP/1.1\r\nHost: x\r\nX-Sentry-Auth: %s\r\nContent-Length: 1000000\r\n\r\n", testAuth)

	begin := time.Now()
	var drip sync.WaitGroup
	drip.Go(func() {
		for time.Since(begin) < 10*time.Second {
			if _, err := connection.Write([]byte("{")); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	got, err := readAnswer(connection, http.MethodPost)
	took := time.Since(begin)
	connection.Close()
	drip.Wait()
	if err == nil {
		assert.Equal(t, http.StatusBadRequest, got.status, got.body)
	}
	assert.Less(t, took, 5*time.Second, "until the slow body is given up")
	c.checkServing(t, backend)
	t.Logf("given up after %s: %d %v", took.Round(time.Millisecond), got.status, err)
}

// TestStopWithSlowBody: a client that does not finish does not keep the collector from ending.
func TestStopWithSlowBody(t *testing.T) {
	backend := newSink(t)
	c := start(t, settings{sink: backend})
	connection := c.dial(t)
	fmt.Fprintf(connection, "POST /api/42/envelope/ HTTP/1.1\r\nHost: x\r\nX-Sentry-Auth: %s\r\nContent-Length: 1000000\r\n\r\n{}\n", testAuth)
	c.checkServing(t, backend)
	c.stop(t)
}

// TestHeaderFlood: headers of HTTP beyond a megabyte are not read.
func TestHeaderFlood(t *testing.T) {
	backend := newSink(t)
	c := start(t, settings{sink: backend})
	flood := chunk{}.request()
	for i := range 100_000 {
		flood.headers = append(flood.headers, [2]string{fmt.Sprintf("X-Flood-%d", i), "flood"})
	}
	long := chunk{}.request()
	long.headers = append(long.headers, [2]string{"X-Flood", strings.Repeat("x", 50<<20)})
	for _, r := range []request{flood, long} {
		// Go's server answers, but does not wait for the rest: the client may find the connection reset before it has read that.
		if got, err := c.trySend(r); err == nil {
			assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, got.status)
		}
		c.checkServing(t, backend)
	}
	assert.Less(t, c.peakMemory(t), memorySmall)
	t.Logf("peak memory %d MiB", c.peakMemory(t))
}

// dial opens a connection to write to by hand.
func (c *collector) dial(t testing.TB) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", c.address)
	require.NoError(t, err)
	require.NoError(t, connection.SetDeadline(time.Now().Add(requestTimeout)))
	t.Cleanup(func() { connection.Close() })
	return connection
}
