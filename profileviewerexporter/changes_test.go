// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
)

// eventStream reads events.
type eventStream struct {
	t    *testing.T
	body io.ReadCloser
	from *bufio.Scanner
}

func (h *harness) listen(t *testing.T) *eventStream {
	t.Helper()
	response, err := h.client.Get(h.base + "/api/changes")
	require.NoError(t, err)
	t.Cleanup(func() { response.Body.Close() })
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	return &eventStream{t, response.Body, bufio.NewScanner(response.Body)}
}

func (s *eventStream) next() (out changesAnswer) {
	s.t.Helper()
	for s.from.Scan() {
		if data, ok := strings.CutPrefix(s.from.Text(), "data: "); ok {
			require.NoError(s.t, json.Unmarshal([]byte(data), &out))
			return out
		}
	}
	require.Fail(s.t, "the stream ended", "%v", s.from.Err())
	return out
}

// until returns the first event in which a list is not as it was before.
func (s *eventStream) until(list string, before changesAnswer) changesAnswer {
	s.t.Helper()
	for {
		if event := s.next(); event.Lists[list] != before.Lists[list] {
			return event
		}
	}
}

// streamWriter is the response of a stream, in memory.
type streamWriter struct {
	io.Writer

	header http.Header
}

func (w streamWriter) Header() http.Header { return w.header }
func (streamWriter) WriteHeader(int)       {}
func (streamWriter) Flush()                {}

// listenInBubble is listen in a bubble of synctest, without a network. Channels of the shared
// notices must not leave the bubble.
func (h *harness) listenInBubble(t *testing.T) *eventStream {
	t.Helper()
	withdraw := notices.Shared.Offer(notices.Endpoint{Kind: notices.KindDSN, URL: t.Name()})
	ctx, cancel := context.WithCancel(t.Context())
	body, w := io.Pipe()
	var stream sync.WaitGroup
	stream.Go(func() {
		h.viewer.changes().ServeHTTP(streamWriter{w, http.Header{}}, (&http.Request{}).WithContext(ctx))
	})
	t.Cleanup(func() {
		cancel()
		body.Close()
		stream.Wait()
		withdraw()
	})
	return &eventStream{t, body, bufio.NewScanner(body)}
}

// TestChanges: an event names the list that has changed, and only that one.
func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := created(t, nil)
		stream := h.listenInBubble(t)
		first := stream.next()
		assert.NotEmpty(t, first.Run)

		h.addProfile("shop", shop...)
		profiles := stream.until("profiles", first)
		assert.Equal(t, first.Lists["logs"], profiles.Lists["logs"])
		h.addLog("shop", "hello", 0, 0)
		logs := stream.until("logs", profiles)
		assert.Equal(t, profiles.Lists["profiles"], logs.Lists["profiles"])
		h.addSpans("shop", 7, testSpan{1, 0, "GET /", 0, 40})
		traces := stream.until("traces", logs)
		notices.Shared.Report(notices.Notice{Component: t.Name(), Count: 1})
		noticed := stream.until("notices", traces)
		h.viewer.store.Expire(time.Now().Add(2 * h.viewer.cfg.MaxAge))
		expired := stream.until("profiles", noticed)
		h.addLog("shop", "hello", 0, 0)
		logs = stream.until("logs", expired)
		_, err := h.viewer.clear(nil)
		require.NoError(t, err)
		stream.until("logs", logs)
	})
}

// TestChangesAreCoalesced: many changes are few events, and the last one has all of them.
func TestChangesAreCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := created(t, nil)
		stream := h.listenInBubble(t)
		event, events := stream.next(), 0
		const changes = 1000
		for i := range changes {
			h.addLog("shop", fmt.Sprint(i), 0, 0)
			if i%100 == 0 {
				time.Sleep(10 * time.Millisecond)
			}
		}
		for event.Lists["logs"] != changes {
			event = stream.next()
			events++
		}
		assert.Less(t, events, 4)

		begin := time.Now()
		go func() {
			for i := range 10_000 { // for ten seconds
				h.addLog("shop", fmt.Sprint(i), 0, 0)
				time.Sleep(time.Millisecond)
			}
		}()
		for events = 0; event.Lists["logs"] != changes+10_000; events++ {
			event = stream.next()
		}
		t.Logf("%d events in %s", events, time.Since(begin))
		assert.LessOrEqual(t, events, 2*int(time.Since(begin)/time.Second)+1)
	})
}

// TestSlowListeners: clients that do not read their events delay neither the store nor the others.
func TestSlowListeners(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	for range 20 {
		h.askSlowly("/api/changes")
	}
	stream := h.listen(t)
	first := stream.next()
	for i := range 100 {
		h.addLog("shop", fmt.Sprint(i), 0, 0)
	}
	for event := first; event.Lists["logs"] != 100; {
		event = stream.next()
	}
	assert.Equal(t, 1, len(get[overviewAnswer](h, "overview").Services))
} // goleak: the streams end with the exporter

func TestClear(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	h.addSpans("shop", 7, testSpan{1, 0, "GET /", 0, 40})
	h.addLog("shop", "hello", 7, 1)
	get[flameAnswer](h, "flame?profile=1")
	require.NotEmpty(t, h.viewer.graphs.list)

	response, err := h.client.Post(h.base+"/api/clear", "", nil)
	require.NoError(t, err)
	response.Body.Close()
	assert.Equal(t, http.StatusOK, response.StatusCode)
	after := get[overviewAnswer](h, "overview")
	assert.Empty(t, after.Services)
	assert.Empty(t, after.Profiles)
	assert.Empty(t, after.Traces)
	assert.Zero(t, after.Bytes)
	assert.Zero(t, after.Evicted, "it was the user")
	assert.Empty(t, h.viewer.graphs.list)
	status, _ := h.fails("flame?profile=1")
	assert.Equal(t, http.StatusGone, status)
	h.addProfile("shop", shop...)
	assert.Equal(t, "2", get[overviewAnswer](h, "overview").Profiles[0].ID, "a new number")
}

func TestClearIsGuarded(t *testing.T) {
	h := start(t, nil)
	h.addLog("shop", "hello", 0, 0)
	for _, header := range []string{"Origin", "Sec-Fetch-Site"} {
		r, err := http.NewRequest(http.MethodPost, h.base+"/api/clear", nil)
		require.NoError(t, err)
		r.Header.Set(header, map[string]string{"Origin": "https://example.com", "Sec-Fetch-Site": "cross-site"}[header])
		response, err := h.client.Do(r)
		require.NoError(t, err)
		response.Body.Close()
		assert.Equal(t, http.StatusForbidden, response.StatusCode)
	}
	response, _ := h.request("/api/clear")
	assert.Equal(t, http.StatusNotFound, response.StatusCode, "a link clears nothing")
	assert.Len(t, get[overviewAnswer](h, "overview").Services, 1)
}

// TestGraphOfASpanIsSentWhenSomethingChanged: a page that asks again gets the graph only if another
// profile has samples of the span.
func TestGraphOfASpanIsSentWhenSomethingChanged(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	for _, kind := range []string{"flame?", "ordered?thread=1&"} {
		path := "/api/" + kind + span7
		response, body := h.request(path)
		require.Equal(t, http.StatusOK, response.StatusCode, "%s", body)
		tag := response.Header.Get("ETag")
		require.NotEmpty(t, tag)
		response, _ = h.request(path, "If-None-Match", tag)
		assert.Equal(t, http.StatusNotModified, response.StatusCode)
		h.addProfile("shop", shop...)
		response, _ = h.request(path, "If-None-Match", tag)
		assert.Equal(t, http.StatusOK, response.StatusCode)
	}
	response, _ := h.request("/api/flame?profile=1")
	assert.Empty(t, response.Header.Get("ETag"), "it has names of spans")
}
