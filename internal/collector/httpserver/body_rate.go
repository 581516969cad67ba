// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"io"
	"net/http"
	"time"
)

// bodyGrace is the maximum pause of a body, and the time before its rate counts. It covers a phone
// that changes cells or is briefly without a network.
const bodyGrace = 20 * time.Second

// minBodyRate makes reads of a body fail with os.ErrDeadlineExceeded if the body is too slow.
type minBodyRate struct {
	next        http.Handler
	rate        int64         // bytes per second
	readTimeout time.Duration // of the server, for the whole request; 0: none
}

// ServeHTTP implements http.Handler.
func (p minBodyRate) ServeHTTP(w http.ResponseWriter, req *http.Request) {
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
	end      time.Time // deadline of the whole request; zero: none
	deadline time.Time // the current one
	read     int64
}

// Read implements io.Reader.
func (b *pacedBody) Read(p []byte) (int, error) {
	b.extend(time.Now())
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if err == io.EOF { // else the deadline would cancel the context of the handler
		_ = b.control.SetReadDeadline(b.end)
	}
	return n, err
}

// extend moves the deadline according to the bytes so far. It changes it in steps of a second: most
// bodies end before the first one.
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
