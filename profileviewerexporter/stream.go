// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"bytes"
	"net/http"
	"time"
)

const (
	// streamPause is the minimum time between two events of a stream. One event covers all changes
	// since the last one.
	streamPause = 500 * time.Millisecond
	// streamHeartbeat is the maximum time between two writes to a stream: it finds clients that
	// have disappeared, and prevents proxies from closing the stream.
	streamHeartbeat = 15 * time.Second
	// streamTimeout is the maximum time of a write. A client that does not read for longer loses
	// its stream.
	streamTimeout = 10 * time.Second
)

// stream serves the current state to the page as server-sent events and, after each change, the new
// one. For each client, it holds
// only the last event that the client received; a slow client does not delay others.
type stream struct {
	// changed returns channels that are closed at the next change.
	changed func() (a, b <-chan struct{})
	// current returns the state, on one line.
	current func() []byte
	// end is closed when all streams must end.
	end <-chan struct{}
}

// ServeHTTP streams events until the client disconnects.
func (s *stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	send := func(parts ...[]byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(streamTimeout)) // instead of write_timeout, which covers the whole response
		if _, err := w.Write(bytes.Join(parts, nil)); err != nil {
			return err
		}
		return control.Flush()
	}
	beat := time.NewTicker(streamHeartbeat)
	defer beat.Stop()
	var last []byte
	for {
		a, b := s.changed() // before current, to miss no change
		if current := s.current(); !bytes.Equal(current, last) {
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
		case <-s.end:
			return
		}
		select {
		case <-time.After(streamPause):
		case <-r.Context().Done():
			return
		case <-s.end:
			return
		}
	}
}
