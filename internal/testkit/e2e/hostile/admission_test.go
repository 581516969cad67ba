// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestHostileAdmission: clients without permission, silent clients and flooding clients attack
// resources that all clients share. The collector has 1 GiB.
func TestHostileAdmission(t *testing.T) {
	varies(t, "unknown keys, silent clients, and one project that uses all memory; two projects")
	t.Run("79 bombs from clients with an unknown key", func(t *testing.T) {
		strangers(t, "/api/42/envelope/?sentry_key=ffffffffffffffffffffffffffffffff", http.StatusForbidden)
	})
	t.Run("79 bombs without a key, sent to the tunnel", func(t *testing.T) { strangers(t, "/tunnel", http.StatusUnauthorized) })
	t.Run("5,200 connections that send only headers", func(t *testing.T) { idleBodies(t, "") })
	t.Run("5,200 connections that send headers and one byte of the body", func(t *testing.T) { idleBodies(t, "{") })
	t.Run("40 bodies of one project that stall after 8 MiB", oneProjectFloods)
}

// startLimited starts a collector with 1 GiB of memory and two projects.
func startLimited(t *testing.T, backend *harness.Sink) *harness.Collector {
	return harness.Start(t, harness.Settings{Sink: backend, MemoryLimit: attackLimit, Receiver: []string{
		"tunnel_path: /tunnel",
		"projects: [{id: 42, public_keys: [" + harness.TestKey + "]}, {id: 43, public_keys: [" + strings.Repeat("b", 32) + "]}]",
	}})
}

// strangers sends bombs that decode to 99 MiB. The collector does not decode bodies of clients
// without permission.
func strangers(t *testing.T, target string, status int) {
	backend := harness.NewSink(t)
	c := startLimited(t, backend)
	var bomb bytes.Buffer
	w := brotli.NewWriterOptions(&bomb, brotli.WriterOptions{Quality: 5, LGWin: 24}) // the result is 89 bytes
	writeBlanks(w, 99<<20)
	require.NoError(t, w.Close())
	before, begin := c.CPUTime(t), time.Now()
	const clients = 79
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			got, err := c.TrySend(harness.Request{Target: target, Headers: [][2]string{{"Content-Encoding", "br"}}, Body: bomb.Bytes()})
			if assert.NoError(t, err) {
				assert.Equal(t, status, got.Status, got.Body)
			}
		})
	}
	all.Wait()
	took, cpu := time.Since(begin), c.CPUTime(t)-before
	t.Logf("%s of CPU", cpu)
	assert.Less(t, cpu, 2*time.Second)
	checkServing(t, c, backend)
	reportAttack(t, c, clients*bomb.Len(), status, took, memorySmall)
}

// idleBodies opens connections whose bodies never arrive. Other clients are still served.
func idleBodies(t *testing.T, begun string) {
	backend := harness.NewSink(t)
	c := startLimited(t, backend)
	const clients = 5200
	begin := time.Now()
	head := fmt.Sprintf("POST /api/42/envelope/ HTTP/1.1\r\nHost: x\r\nX-Sentry-Auth: %s\r\nContent-Length: 10\r\n\r\n%s", harness.TestAuth, begun)
	for range clients {
		fmt.Fprint(dial(t, c), head)
	}
	time.Sleep(500 * time.Millisecond) // until the collector reads them
	asked := time.Now()
	checkServing(t, c, backend)
	t.Logf("a good request was answered in %s", time.Since(asked))
	assert.Less(t, time.Since(asked), hang)
	reportAttack(t, c, clients*len(head), noAnswer, time.Since(begin), memoryLimit)
}

// oneProjectFloods: a project that fills the memory for bodies leaves space for other projects.
func oneProjectFloods(t *testing.T) {
	backend := harness.NewSink(t)
	c := startLimited(t, backend)
	const clients, size = 40, 8 << 20
	begin := time.Now()
	for range clients {
		connection := dial(t, c)
		go func() {
			fmt.Fprintf(connection, "POST /api/42/envelope/ HTTP/1.1\r\nHost: x\r\nX-Sentry-Auth: %s\r\nContent-Length: %d\r\n\r\n", harness.TestAuth, size+1)
			_, _ = connection.Write(bytes.Repeat([]byte(" "), size))
		}()
	}
	time.Sleep(time.Second)
	asked := time.Now()
	good := harness.Chunk{}.Request()
	good.Target, good.Headers = "/api/43/envelope/?sentry_key="+strings.Repeat("b", 32), nil
	got := c.Send(t, good)
	t.Logf("a good request of another project was answered %d in %s", got.Status, time.Since(asked))
	assert.Equal(t, http.StatusOK, got.Status, got.Body)
	assert.Less(t, time.Since(asked), hang)
	reportAttack(t, c, clients*size, noAnswer, time.Since(begin), 640)
}
