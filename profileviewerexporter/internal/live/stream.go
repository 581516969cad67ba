// SPDX-License-Identifier: Apache-2.0

// Package live streams notices of changes to the page, as server-sent events.
package live

import (
	"bytes"
	"net/http"
	"time"
)

const (
	// pause is the minimum time between two events of a stream. One event covers all changes since
	// the last one.
	pause = 500 * time.Millisecond
	// heartbeat is the maximum time between two writes to a stream: it finds clients that have
	// disappeared, and prevents proxies from closing the stream.
	heartbeat = 15 * time.Second
	// timeout is the maximum time of a write. A client that does not read for longer loses its
	// stream.
	timeout = 10 * time.Second
)

// Stream serves the current state and, after each change, the new one. For each client, it holds
// only the last event that the client received; a slow client does not delay others.
type Stream struct {
	// Changed returns channels that are closed at the next change.
	Changed func() (a, b <-chan struct{})
	// Current returns the state, on one line.
	Current func() []byte
	// End is closed when all streams must end.
	End <-chan struct{}
}

// ServeHTTP streams events until the client disconnects.
func (s *Stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	send := func(parts ...[]byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(timeout)) // instead of write_timeout, which covers the whole response
		if _, err := w.Write(bytes.Join(parts, nil)); err != nil {
			return err
		}
		return control.Flush()
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	var last []byte
	for {
		a, b := s.Changed() // before Current, to miss no change
		if current := s.Current(); !bytes.Equal(current, last) {
			if send([]byte("data: "), current, []byte("\n\n")) != nil {
				return
			}
			last = current
		}
		select {
		case <-a:
		case <-b:
		case <-beat.C:
			if send([]byte(":\n\n")) != nil { // a comment
				return
			}
			continue
		case <-r.Context().Done():
			return
		case <-s.End:
			return
		}
		select {
		case <-time.After(pause):
		case <-r.Context().Done():
			return
		case <-s.End:
			return
		}
	}
}
