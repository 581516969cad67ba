// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
)

// addLargeLogs makes the response of the log records a large one.
func (h *harness) addLargeLogs() {
	h.t.Helper()
	logs, long := plog.NewLogs(), strings.Repeat("x", answer.LongestText)
	records := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for range maxRecordsShown {
		record := records.AppendEmpty()
		for i := range 30 {
			record.Attributes().PutStr(fmt.Sprint(i), long)
		}
	}
	require.NoError(h.t, h.logs.ConsumeLogs(h.t.Context(), logs))
}

// askSlowly asks for a response and reads none of it.
func (h *harness) askSlowly(path string) net.Conn {
	h.t.Helper()
	connection, err := net.Dial("tcp", h.viewer.server.Listener.Addr().String())
	require.NoError(h.t, err)
	h.t.Cleanup(func() { connection.Close() })
	require.NoError(h.t, connection.(*net.TCPConn).SetReadBuffer(64<<10))
	_, err = fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	require.NoError(h.t, err)
	return connection
}

func (u *unread) use() (responses int, bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.queue.Len(), u.queue.Size()
}

func (u *unread) oldest() any {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.queue.Oldest()
}

// TestSlowReaders: whoever does not read delays no one, and what they do not read is bounded: the
// oldest loses the rest of it.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	h.addLargeLogs()
	first := h.askSlowly("/api/logs")
	unread := &h.viewer.unread
	require.Eventually(t, func() bool { n, _ := unread.use(); return n == 1 }, 30*time.Second, time.Millisecond)
	oldest := unread.oldest()
	_, size := unread.use()
	require.Greater(t, size, int64(5<<20), "more than the sockets hold")

	response, _ := h.request("/api/logs")
	assert.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, oldest, unread.oldest(), "it was served before the first response was read")
	if !testsize.Full() {
		return // TestUnreadIsShared has the limit
	}
	for range maxUnread / size {
		h.askSlowly("/api/logs")
	}
	require.Eventually(t, func() bool { return unread.oldest() != oldest }, 30*time.Second, time.Millisecond)
	answer, err := http.ReadResponse(bufio.NewReader(first), nil)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, answer.Body)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "made room")
	_, size = unread.use()
	assert.LessOrEqual(t, size, int64(maxUnread))
}

// deadlines counts how often the write of a response was ended.
type deadlines struct {
	http.ResponseWriter
	ended int
}

func (d *deadlines) SetWriteDeadline(time.Time) error { d.ended++; return nil }

// TestUnreadIsShared: the client with the most loses its oldest response, but nobody the one that
// has just been built.
func TestUnreadIsShared(t *testing.T) {
	var u unread
	add := func(client string, size int64) (*deadlines, func()) {
		w := &deadlines{}
		return w, u.add(w, &http.Request{RemoteAddr: client + ":1234"}, size)
	}
	other, done := add("192.0.2.1", maxUnread/8)
	defer done()
	slow := make([]*deadlines, 7)
	for i := range slow {
		slow[i], _ = add("192.0.2.2", maxUnread/8)
	}
	assert.Zero(t, slow[0].ended)
	_, done = add("192.0.2.3", 1)
	assert.Equal(t, []int{1, 0, 0}, []int{slow[0].ended, slow[1].ended, other.ended})
	done()
	done()

	large, done := add("192.0.2.4", 2*maxUnread)
	assert.Zero(t, large.ended, "one may have any size")
	assert.Equal(t, []int{1, 1}, []int{other.ended, slow[6].ended})
	n, _ := u.use()
	assert.Equal(t, 1, n)
	done()
	n, size := u.use()
	assert.Zero(t, n)
	assert.Zero(t, size)
}

// TestOneResponseAtATime: while a response is built, all others wait.
func TestOneResponseAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := created(t, nil)
		var building, most atomic.Int32
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				h.viewer.respond(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil), func(*http.Request) (any, error) {
					most.Store(max(most.Load(), building.Add(1)))
					time.Sleep(time.Second)
					building.Add(-1)
					return "x", nil
				})
			})
		}
		all.Wait()
		assert.EqualValues(t, 1, most.Load())
	})
}
