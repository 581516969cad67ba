// SPDX-License-Identifier: Apache-2.0

package spotlight

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// maxEnvelopes is the number of envelopes that Spotlight itself keeps for new listeners.
	maxEnvelopes = 500
	// maxBytes is the memory for them; the oldest are dropped first.
	maxBytes = 16 << 20
	// maxEnvelope is the size of the largest envelope that is forwarded: nearly all except profiles
	// of busy Node.js processes. A listener's event takes up to three times as much memory.
	maxEnvelope = 2 << 20
	// maxListeners is enough for some pages and terminals.
	maxListeners = 8

	// heartbeat is the interval of comments, which detect listeners that are gone.
	heartbeat = 15 * time.Second
	// writeTimeout is the time that a listener has to read an event.
	writeTimeout = 30 * time.Second
)

// Stream holds the latest envelopes and sends them to listeners.
type Stream struct {
	mu        sync.Mutex
	latest    []envelope // the oldest first
	bytes     int
	added     int           // envelopes so far
	listeners int           //
	changed   chan struct{} // closed at the next change
	closed    bool
}

type envelope struct {
	id   uuid.UUID
	body []byte
}

// NewStream returns an empty stream.
func NewStream() *Stream { return &Stream{changed: make(chan struct{})} }

// Add copies an envelope to the stream. It reports whether the envelope is small enough.
func (s *Stream) Add(body []byte) bool {
	if len(body) > maxEnvelope {
		return false
	}
	e := envelope{id: uuid.Must(uuid.NewV7()), body: bytes.Clone(body)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = append(s.latest, e)
	s.added++
	s.bytes += len(e.body)
	for s.bytes > maxBytes || len(s.latest) > maxEnvelopes {
		s.bytes -= len(s.latest[0].body)
		s.latest[0] = envelope{} // the array may stay for a while
		s.latest = s.latest[1:]
	}
	s.notify()
	return true
}

// Clear drops the envelopes that new listeners would receive.
func (s *Stream) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest, s.bytes = nil, 0
}

// Close ends the responses to all listeners.
func (s *Stream) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.notify()
}

func (s *Stream) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// ServeHTTP sends the stored envelopes, and then each new one, as server-sent events.
func (s *Stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	position, ok := s.listen(r.Header.Get("Last-Event-ID"))
	if !ok {
		http.Error(w, fmt.Sprintf("too many listeners: at most %d", maxListeners), http.StatusServiceUnavailable)
		return
	}
	defer s.leave()
	out := listener{ResponseWriter: w, control: http.NewResponseController(w), event: contentType}
	if r.URL.Query().Has("base64") {
		out.event += ";base64" // Spotlight's page asks for it; the data is the same
	}
	w.Header().Set("Content-Type", "text/event-stream")
	err := out.send([]byte("\n"))
	ticks := time.NewTicker(heartbeat)
	defer ticks.Stop()
	for err == nil {
		e, changed, found, closed := s.next(&position)
		switch {
		case closed:
			return
		case found:
			err = out.envelope(e)
			continue
		}
		select {
		case <-changed:
		case <-ticks.C:
			err = out.send([]byte(":\n\n"))
		case <-r.Context().Done():
			return
		}
	}
}

// listen adds a listener and returns the position of its first envelope: the one after that with
// the ID, or the oldest.
func (s *Stream) listen(lastID string) (position int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listeners == maxListeners {
		return 0, false
	}
	s.listeners++
	oldest := s.added - len(s.latest)
	last, err := uuid.Parse(lastID)
	for i := range s.latest {
		if err == nil && s.latest[i].id == last {
			return oldest + i + 1, true
		}
	}
	return oldest, true
}

func (s *Stream) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners--
}

// next returns the envelope at a position, or the oldest one after it, and advances the position.
// If there is none, changed is closed at the next change.
func (s *Stream) next(position *int) (e envelope, changed <-chan struct{}, found, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := s.added - len(s.latest)
	*position = max(*position, oldest)
	if *position == s.added {
		return envelope{}, s.changed, false, s.closed
	}
	e = s.latest[*position-oldest]
	*position++
	return e, nil, true, s.closed
}

// listener writes the response to one listener.
type listener struct {
	http.ResponseWriter
	control *http.ResponseController
	event   string
}

func (l *listener) envelope(e envelope) error {
	data := encode(e)
	if data == nil {
		return nil // no envelope: the SDK received an error
	}
	return l.send(fmt.Appendf(nil, "event: %s\ndata: %s\nid: %s\n\n", l.event, data, e.id))
}

func (l *listener) send(text []byte) error {
	if err := l.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := l.Write(text); err != nil {
		return err
	}
	return l.control.Flush()
}
