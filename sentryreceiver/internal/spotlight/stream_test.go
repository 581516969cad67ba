// SPDX-License-Identifier: Apache-2.0

package spotlight

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// event is a server-sent event.
type event struct{ name, id, data string }

// listenerOf listens to a stream until the test ends.
func listenerOf(t *testing.T, url, lastID string) <-chan event {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	request.Header.Set("Last-Event-ID", lastID)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	events := make(chan event)
	go func() {
		defer response.Body.Close()
		defer close(events)
		var e event
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 4*maxEnvelope)
		for lines.Scan() {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data = value
			case "":
				if e.data != "" {
					select {
					case events <- e:
					case <-t.Context().Done():
					}
				}
				e = event{}
			}
		}
	}()
	return events
}

const patience = 30 * time.Second

func next(t *testing.T, events <-chan event) event {
	t.Helper()
	select {
	case e, ok := <-events:
		require.True(t, ok, "the stream ended")
		return e
	case <-time.After(patience):
		require.Fail(t, "no event")
		return event{}
	}
}

func serve(t *testing.T) (*Stream, string) {
	s := NewStream()
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return s, server.URL
}

func message(text string) []byte {
	return fmt.Appendf(nil, "{\"event_id\":%q}\n{\"type\":\"event\"}\n{\"message\":%q}\n", strings.Repeat("0", 32), text)
}

// TestStream: a listener receives the stored envelopes, then new ones, and continues where it was.
func TestStream(t *testing.T) {
	s, url := serve(t)
	require.True(t, s.Add(message("one")))
	first := listenerOf(t, url, "")
	one := next(t, first)
	assert.Equal(t, "application/x-sentry-envelope", one.name)
	require.True(t, s.Add(message("two")))
	two := next(t, first)
	assert.Contains(t, two.data, `"message":"two"`)

	assert.Equal(t, two, next(t, listenerOf(t, url, one.id)))
	again := listenerOf(t, url+"?base64=1", "not an ID")
	assert.Equal(t, event{"application/x-sentry-envelope;base64", one.id, one.data}, next(t, again))
	assert.Equal(t, two.data, next(t, again).data)

	s.Clear()
	require.True(t, s.Add(message("three")))
	assert.Contains(t, next(t, listenerOf(t, url, "")).data, `"message":"three"`)
	assert.Contains(t, next(t, first).data, `"message":"three"`)

	s.Close()
	select {
	case _, open := <-first:
		assert.False(t, open)
	case <-time.After(patience):
		assert.Fail(t, "the response does not end")
	}
}

// TestStreamLimits: memory and listeners are limited.
func TestStreamLimits(t *testing.T) {
	s, url := serve(t)
	assert.False(t, s.Add(message(strings.Repeat("x", maxEnvelope))))
	for i := range 2 * maxEnvelopes {
		require.True(t, s.Add(message(fmt.Sprint(i))))
	}
	assert.Len(t, s.latest, maxEnvelopes)
	assert.Contains(t, next(t, listenerOf(t, url, "")).data, fmt.Sprintf(`"message":"%d"`, maxEnvelopes))
	for range 2 * maxBytes / maxEnvelope {
		require.True(t, s.Add(message(strings.Repeat("x", maxEnvelope-1000))))
		assert.LessOrEqual(t, s.bytes, maxBytes)
	}
	s.Clear()
	for range maxListeners - 1 {
		listenerOf(t, url, "")
	}
	response, err := http.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
}

// TestEncode: the shape is that of Spotlight's own server, for the same envelopes.
func TestEncode(t *testing.T) {
	id := uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")
	const header = `{"event_id":"a","__spotlight_envelope_id":"01890a5d-ac96-774b-bcce-b302099a8057"}`
	for name, test := range map[string]struct{ body, want string }{
		"event": {"{\"event_id\":\"a\"}\n{\"type\":\"event\"}\n{ \"message\": \"hello\" }\n",
			`[` + header + `,[[{"type":"event"},{"message":"hello","type":"event"}]]]`},
		"several lines": {"{\"event_id\":\"a\"}\n{\"type\":\"event\",\"length\":13}\n{\n\"a\":\r\n1\n}\n\n",
			`[` + header + `,[[{"type":"event","length":13},{"a":1,"type":"event"}]]]`},
		"own type":      {"{\"event_id\":\"a\"}\n{\"type\":\"event\"}\n{\"type\":\"error\"}\n", `[` + header + `,[[{"type":"event"},{"type":"error","type":"event"}]]]`},
		"empty payload": {"{\"event_id\":\"a\"}\n{\"type\":\"session\"}\n{}\n", `[` + header + `,[[{"type":"session"},{"type":"session"}]]]`},
		"no JSON":       {"{\"event_id\":\"a\"}\n{\"type\":\"event\"}\nhello\n", `[` + header + `,[[{"type":"event"},null]]]`},
		"half JSON":     {"{\"event_id\":\"a\"}\n{\"type\":\"event\"}\n{\"a\":\n", `[` + header + `,[[{"type":"event"},null]]]`},
		"attachment": {"{\"event_id\":\"a\"}\n{\"type\":\"attachment\",\"length\":3}\n\x00\n\xff\n",
			`[` + header + `,[[{"type":"attachment","length":3},{"data":"AAr/"}]]]`},
		"text": {"{\"event_id\":\"a\"}\n{\"type\":\"attachment\",\"length\":3,\"content_type\":\"text/plain; charset=utf-8\"}\nä\n\n",
			`[` + header + `,[[{"type":"attachment","length":3,"content_type":"text/plain; charset=utf-8"},{"data":"ä\u000a"}]]]`},
		"no items": {"{}\n", `[{"__spotlight_envelope_id":"01890a5d-ac96-774b-bcce-b302099a8057"},[]]`},
	} {
		got := string(encode(envelope{id, []byte(test.body)}))
		assert.Equal(t, test.want, got, name)
		assert.True(t, json.Valid([]byte(got)), name)
	}
	assert.Nil(t, encode(envelope{id, []byte("hello")}))
}

// FuzzEncode: the data of an event is one line of JSON.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("{}\n{\"type\":\"event\"}\n{\"a\":[1,\n2]}\n"))
	f.Add([]byte("{}\n{\"type\":\"attachment\",\"content_type\":\"text/html\",\"length\":4}\n\r\n\xff\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		data := encode(envelope{uuid.Nil, body})
		if data == nil {
			return
		}
		assert.True(t, json.Valid(data), "%q", data)
		assert.NotContains(t, string(data), "\n")
		assert.NotContains(t, string(data), "\r")
	})
}
