// SPDX-License-Identifier: Apache-2.0

package tee

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestByteIdentity: each recorded request of a real SDK arrives through the collector with the same bytes as directly, except for
// connection headers, X-Forwarded-For and Via.
func TestByteIdentity(t *testing.T) {
	requests := golden.Corpus(t)
	direct, behind := newRecorder(t, nil), newRecorder(t, nil)
	c := harness.Start(t, settings(harness.NewSink(t), "upstream: '"+behind.URL+"'"))
	var events []pair
	for _, from := range requests {
		request := harness.RecordedRequest(from)
		_, err := harness.SendTo(direct.Listener.Addr().String(), request)
		require.NoError(t, err)
		response := c.Send(t, request)
		if !strings.Contains(from.Path, "/api/") {
			require.Contains(t, []int{200, 404}, response.Status, from.Name) // paths of tunnels are arbitrary
			direct.take(t, 1)
			if response.Status == 200 {
				behind.take(t, 1)
			}
			continue
		}
		require.Equal(t, http.StatusOK, response.Status, "%s %s", from.Name, response.Body)
		want, got := direct.take(t, 1)[0], behind.take(t, 1)[0]
		assert.Equal(t, "127.0.0.1", got.Header.Get("X-Forwarded-For"))
		assert.Regexp(t, "^1.1 otelcol-sentry-tee-.{8}$", got.Header.Get("Via"))
		for _, name := range []string{"X-Forwarded-For", "Via"} {
			got.Header.Del(name)
		}
		for _, name := range []string{"Connection", "Keep-Alive", "Te", "Upgrade", "Http2-Settings", "Content-Length"} {
			want.Header.Del(name)
			got.Header.Del(name)
		}
		require.Equal(t, want, got, from.Name)
		events = append(events, eventsOf(t, from, want.Body, got.Body)...)
	}
	t.Logf("%d requests, %d events", len(requests), len(events))
	normalizeBoth(t, events)
}

// pair has an event as it arrived directly and through the collector.
type pair struct{ Direct, Tee json.RawMessage }

func eventsOf(t *testing.T, from golden.Request, direct, tee string) (events []pair) {
	items := func(body string) (payloads []json.RawMessage) {
		from.Body = []byte(body)
		e, err := sentry.ReadEnvelope(from.Decoded(t))
		if err != nil {
			return nil // another endpoint
		}
		for _, item := range e.Items {
			if kind := item.Header.Type; (kind == sentry.ItemEvent || kind == sentry.ItemTransaction) && json.Valid(item.Payload) {
				payloads = append(payloads, item.Payload)
			}
		}
		return payloads
	}
	one, another := items(direct), items(tee)
	require.Len(t, another, len(one))
	for i := range one {
		events = append(events, pair{one[i], another[i]})
	}
	return events
}

// normalizeBoth checks that Relay's own library normalizes both copies of each event to the same result, if `sh python/install` has
// installed it.
func normalizeBoth(t *testing.T, events []pair) {
	python, err := filepath.Abs("python/installed/relay/bin/python")
	require.NoError(t, err)
	if _, err := os.Stat(python); err != nil {
		t.Log("sentry-relay is not installed: the copies are compared by bytes only; see python/install")
		return
	}
	require.NotEmpty(t, events)
	var lines bytes.Buffer
	for _, e := range events {
		require.NoError(t, json.NewEncoder(&lines).Encode(e))
	}
	command := exec.Command(python, "python/normalize.py")
	command.Stdin = &lines
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Logf("%s", output)
	var said struct{ Normalized, Different int }
	require.NoError(t, json.Unmarshal(output, &said))
	assert.Equal(t, len(events), said.Normalized)
	assert.Zero(t, said.Different)
}
