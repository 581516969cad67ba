// SPDX-License-Identifier: Apache-2.0

package hostile

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

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestHostileConnections: attacks by the way of sending, or the number of requests, rather than by
// their content.
func TestHostileConnections(t *testing.T) {
	varies(t, "speed, end, number and headers of requests")
	t.Run("200 requests that declare a body of 100 MiB and never complete it", claimedLength)
	t.Run("50 clients that disconnect in the middle of a body", abandonedBody)
	t.Run("a body sent byte by byte", slowBody)
	t.Run("an endless body during shutdown", stopWithSlowBody)
	t.Run("100,000 headers, then a header of 50 MiB", headerFlood)
	t.Run("8 concurrent bombs", bombsAtOnce)
	t.Run("2,000 senders with different names", manySenders)
	t.Run("a tunnel request with the DSN of another host", tunnelElsewhere)
}

// claimedLength: the collector does not reserve memory for a stated Content-Length.
func claimedLength(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Sink: backend})
	const clients = 200
	begin := time.Now()
	for range clients {
		connection := dial(t, c)
		fmt.Fprintf(connection, "POST /api/42/envelope/ HTTP/1.1\r\nHost: x\r\nX-Sentry-Auth: %s\r\nContent-Length: %d\r\n\r\n{}\n",
			harness.TestAuth, 100<<20)
	}
	time.Sleep(500 * time.Millisecond)
	checkServing(t, c, backend)
	reportAttack(t, c, clients*3, noAnswer, time.Since(begin), memorySmall)
}

// noAnswer is the status of requests that receive no answer.
const noAnswer = 0

// abandonedBody: a client that disconnects within the body uses no memory, and is counted.
func abandonedBody(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Sink: backend})
	begin := time.Now()
	for range 50 {
		connection := dial(t, c)
		fmt.Fprintf(connection, "POST /api/42/envelope/ HTTP/1.1\r\nHost: x\r\nX-Sentry-Auth: %s\r\nContent-Length: 1000\r\n\r\n{}\n", harness.TestAuth)
		connection.Close()
	}
	require.Eventually(t, func() bool {
		return c.Scrape(t).Sum("otelcol_receiver_sentry_requests_rejected", "reason=body_unreadable") == 50
	}, 30*time.Second, 50*time.Millisecond)
	checkServing(t, c, backend)
	reportAttack(t, c, 50*3, noAnswer, time.Since(begin), memorySmall)
}

// slowBody: an endless body occupies one connection until read_timeout.
func slowBody(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Sink: backend, Receiver: []string{"read_timeout: 1s"}})
	connection := dial(t, c)
	fmt.Fprintf(connection, "POST /api/42/envelope/ HTTP/1.1\r\nHost: x\r\nX-Sentry-Auth: %s\r\nContent-Length: 1000000\r\n\r\n", harness.TestAuth)

	begin := time.Now()
	var drip sync.WaitGroup
	drip.Go(func() {
		for time.Since(begin) < 2*hang {
			if _, err := connection.Write([]byte("{")); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	got, err := harness.ReadResponse(connection, http.MethodPost)
	took := time.Since(begin)
	connection.Close()
	drip.Wait()
	if err == nil {
		assert.Equal(t, http.StatusRequestTimeout, got.Status, got.Body)
	}
	assert.Less(t, took, hang, "until the slow body is given up")
	checkServing(t, c, backend)
	reportAttack(t, c, int(took/(20*time.Millisecond)), got.Status, took, memorySmall)
}

// stopWithSlowBody: a client that does not finish its request does not delay the shutdown.
func stopWithSlowBody(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Sink: backend})
	connection := dial(t, c)
	fmt.Fprintf(connection, "POST /api/42/envelope/ HTTP/1.1\r\nHost: x\r\nX-Sentry-Auth: %s\r\nContent-Length: 1000000\r\n\r\n{}\n", harness.TestAuth)
	checkServing(t, c, backend)
	begin := time.Now()
	reportAttack(t, c, 3, noAnswer, time.Since(begin), memorySmall)
	c.Stop(t)
}

// headerFlood: HTTP headers beyond the limit are not read.
func headerFlood(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Sink: backend})
	flood := harness.Chunk{}.Request()
	for i := range 100_000 {
		flood.Headers = append(flood.Headers, [2]string{fmt.Sprintf("X-Flood-%d", i), "flood"})
	}
	long := harness.Chunk{}.Request()
	long.Headers = append(long.Headers, [2]string{"X-Flood", strings.Repeat("x", 50<<20)})
	begin := time.Now()
	for _, r := range []harness.Request{flood, long} {
		// Go's server answers without reading the rest, so the connection may be reset before the
		// client has read the answer.
		if got, err := c.TrySend(r); err == nil {
			assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, got.Status)
		}
		checkServing(t, c, backend)
	}
	reportAttack(t, c, 100_000*16+50<<20, http.StatusRequestHeaderFieldsTooLarge, time.Since(begin), memorySmall)
}

// manySenders: clients that invent projects, SDKs, versions, item types and reasons create a
// bounded number of metric series.
func manySenders(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Sink: backend, Signals: harness.OtherSignals})
	begin, sent := time.Now(), 0
	const senders, mostPoints = 2000, 1500
	for i := range senders {
		r := harness.Request{Target: fmt.Sprintf("/api/%d/envelope/", i+1), Headers: [][2]string{{"X-Sentry-Auth", fmt.Sprintf(
			"Sentry sentry_version=7, sentry_client=made.up%d/%d.%d, sentry_key=%032x", i, i, i, i)}}}
		r.Body = fmt.Appendf(nil, "{\"sdk\":{\"name\":\"sentry.made.up%[1]d\",\"version\":\"%[1]d.%[1]d\"}}\n{\"type\":\"type%[1]d\"}\n{}\n{\"type\":\"event\",\"content_type\":\"x%[1]d\"}\n{\"k%[1]d\":1,\"tags\":7}\n"+
			"{\"type\":\"client_report\"}\n{\"discarded_events\":[{\"reason\":\"r%[1]d\",\"category\":\"c%[1]d\",\"quantity\":1}]}\n", i)
		sent += len(r.Body)
		assert.Equal(t, http.StatusOK, c.Send(t, r).Status)
	}
	own := 0
	for _, p := range c.Scrape(t) {
		if strings.HasPrefix(p.Name, "otelcol_receiver_") {
			own++
		}
	}
	assert.Less(t, own, mostPoints, "points of the receiver's own metrics")
	checkServing(t, c, backend)
	reportAttack(t, c, sent, http.StatusOK, time.Since(begin), memorySmall)
}

// tunnelElsewhere: the collector sends nothing to the host in an envelope's DSN.
func tunnelElsewhere(t *testing.T) {
	backend := harness.NewSink(t)
	elsewhere, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer elsewhere.Close()
	asked := make(chan struct{}, 1)
	go func() {
		for {
			connection, err := elsewhere.Accept()
			if err != nil {
				return
			}
			connection.Close()
			asked <- struct{}{}
		}
	}()
	c := harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Sink: backend, Signals: []string{"logs"}, Receiver: []string{"tunnel_path: /t"}})
	begin := time.Now()
	got := c.Send(t, harness.Request{Target: "/t?sentry_key=" + harness.TestKey, Body: fmt.Appendf(nil,
		"{\"dsn\":\"http://%s@%s/42\"}\n{\"type\":\"event\"}\n{\"message\":\"hello\"}\n", harness.TestKey, elsewhere.Addr())})
	assert.Equal(t, http.StatusOK, got.Status, "the key and the project are what counts")
	harness.OnlyLogRecord(t, backend)
	select {
	case <-asked:
		t.Error("the collector has connected to the machine in the dsn")
	case <-time.After(500 * time.Millisecond):
	}
	checkServing(t, c, backend)
	reportAttack(t, c, 100, got.Status, time.Since(begin), memorySmall)
}

// dial opens a connection for raw requests.
func dial(t testing.TB, c *harness.Collector) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", c.Address)
	require.NoError(t, err)
	require.NoError(t, connection.SetDeadline(time.Now().Add(harness.RequestTimeout)))
	t.Cleanup(func() { connection.Close() })
	return connection
}
