// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// Wire is a request as it arrived.
type Wire struct {
	Method, Target string
	Header         http.Header
	Body           string
}

// CompareForwarded compares a request that a tee forwarded with the request that the client sent.
// They may differ in the headers of one connection, X-Forwarded-For and Via only.
func CompareForwarded(t testing.TB, sent, forwarded Wire) {
	t.Helper()
	assert.Regexp(t, `^127\.0\.0\.1(, 127\.0\.0\.1)?$`, forwarded.Header.Get("X-Forwarded-For")) // the second one is of a proxy in front
	assert.Regexp(t, "^1.1 otelcol-sentry-tee-.{8}$", forwarded.Header.Get("Via"))
	for _, name := range []string{"X-Forwarded-For", "Via"} {
		forwarded.Header.Del(name)
	}
	for _, name := range []string{"Connection", "Keep-Alive", "Te", "Upgrade", "Http2-Settings", "Content-Length"} {
		sent.Header.Del(name)
		forwarded.Header.Del(name)
	}
	require.Equal(t, sent, forwarded)
}

// EventPair has both copies of an event: as sent, and as forwarded.
type EventPair struct{ Direct, Tee json.RawMessage }

// EventPairs returns the events and transactions of two requests with the same envelope.
func EventPairs(t testing.TB, sent, forwarded Wire) (pairs []EventPair) {
	t.Helper()
	one, another := eventsOf(t, sent), eventsOf(t, forwarded)
	require.Len(t, another, len(one))
	for i := range one {
		pairs = append(pairs, EventPair{one[i], another[i]})
	}
	return pairs
}

func eventsOf(t testing.TB, r Wire) (payloads []json.RawMessage) {
	from := golden.Request{Name: r.Target, Body: []byte(r.Body), Encoding: r.Header.Get("Content-Encoding")}
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

// NormalizeBoth lets Relay's own library normalize both copies of each event, and compares the
// results. It requires sentry-relay, which `sh internal/testkit/e2e/tee/python/install` installs.
func NormalizeBoth(t testing.TB, events []EventPair) {
	folder := filepath.Join(golden.Root(t), "internal", "testkit", "e2e", "tee", "python")
	python := filepath.Join(folder, "installed", "relay", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Log("sentry-relay is not installed: the copies are compared by bytes only; see internal/testkit/e2e/tee/python/install")
		return
	}
	require.NotEmpty(t, events)
	var lines bytes.Buffer
	for _, e := range events {
		require.NoError(t, json.NewEncoder(&lines).Encode(e))
	}
	command := exec.Command(python, filepath.Join(folder, "normalize.py"))
	command.Stdin = &lines
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Logf("%s", output)
	var said struct{ Normalized, Different int }
	require.NoError(t, json.Unmarshal(output, &said))
	assert.Equal(t, len(events), said.Normalized)
	assert.Zero(t, said.Different)
}
