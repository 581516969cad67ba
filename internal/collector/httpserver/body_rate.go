// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"io"
	"net/http"
	"time"
)

// bodyGrace is how long a body may pause, and how long it may take before its rate counts: a phone that changes cells, or is in a lift
// for a moment, sends on after that.
const bodyGrace = 20 * time.Second

// pacedBodies has reading fail with os.ErrDeadlineExceeded where a body comes too slowly.
type pacedBodies struct {
	next        http.Handler
	rate        int64         // bytes per second
	readTimeout time.Duration // of the server, for the whole request; 0 = none
}

// ServeHTTP implements http.Handler.
func (p pacedBodies) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Body != nil && req.Body != http.NoBody {
		b := &pacedBody{ReadCloser: req.Body, control: http.NewResponseController(w), rate: p.rate, start: time.Now()}
		if p.readTimeout > 0 {
			b.end = b.start.Add(p.readTimeout)
		}
		req.Body = b
	}
	p.next.ServeHTTP(w, req)
}

type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	rate    int64

	start    time.Time
	end      time.Time // of the whole request; zero = none
	deadline time.Time // as it is set
	read     int64
}

// Read implements io.Reader.
func (b *pacedBody) Read(p []byte) (int, error) {
	b.extend(time.Now())
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if err == io.EOF { // the deadline would end the context of the handler
		_ = b.control.SetReadDeadline(b.end)
	}
	return n, err
}

// extend moves the deadline as far as the bytes so far allow. It is set only when that makes a difference: fast bodies end before.
func (b *pacedBody) extend(now time.Time) {
	deadline := b.start.Add(bodyGrace + time.Duration(b.read/b.rate)*time.Second)
	if paused := now.Add(bodyGrace); deadline.After(paused) {
		deadline = paused
	}
	if !b.end.IsZero() && deadline.After(b.end) {
		deadline = b.end
	}
	if deadline.Sub(b.deadline) > time.Second {
		b.deadline = deadline
		_ = b.control.SetReadDeadline(deadline)
	}
}
