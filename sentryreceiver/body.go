package sentryreceiver

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

const (
	// maxPooledBuffer is what a buffer may keep between requests. Nearly all bodies fit; one of 50 MB gives its memory back.
	maxPooledBuffer = 8 << 20

	// minBuffer: half of the recorded bodies have less than this when decoded.
	minBuffer = 64 << 10

	// maxTrustedRatio is how many times larger than its encoded form a body may say it is to have all the memory at once;
	// one that claims more gets it as its bytes come. Node's chunks repeat themselves 27 times.
	maxTrustedRatio = 32

	// growth is how far ahead of arrived bytes memory may run for a body that says how large it is. A Content-Length costs
	// nothing to claim.
	growth = 4
)

var errBodyTooLarge = errors.New("body is too large")

// buffer holds the body of one request.
type buffer struct{ data []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func acquireBuffer() *buffer { return buffers.Get().(*buffer) }

// release gives the memory to the next request: nothing may point into it any more.
func (b *buffer) release() {
	if cap(b.data) <= maxPooledBuffer {
		b.data = b.data[:0]
		buffers.Put(b)
	}
}

// fill reads src to its end. size is how long that is said to be, -1 if nothing is said; trusted is how much of that to
// believe at once. More than limit bytes give errBodyTooLarge.
func (b *buffer) fill(src io.Reader, size int64, trusted int, limit int64) error {
	size = min(size, limit)
	b.reserve(int(min(size+1, int64(max(trusted, minBuffer)))))
	for {
		if len(b.data) == cap(b.data) {
			if len(b.data) <= int(size) {
				b.reserve(min(int(size)+1, growth*len(b.data))) // to the said size, and one byte that is not there
			} else {
				b.reserve(int(min(limit+1, int64(2*len(b.data)))))
			}
		}
		n, err := src.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		switch {
		case int64(len(b.data)) > limit:
			return errBodyTooLarge
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

func (b *buffer) reserve(n int) {
	if n = max(n, minBuffer); n > cap(b.data) {
		b.data = append(make([]byte, 0, n), b.data...)
	}
}

// readBody reads and decodes the body of a request. The error is a *refusal.
func readBody(r *http.Request, limit int64) (*buffer, error) {
	body := acquireBuffer()
	if err := body.fill(r.Body, r.ContentLength, 0, limit); err != nil {
		body.release()
		return nil, bodyRefusal(err, reasonBodyUnreadable, "cannot read the body", limit)
	}
	name := normalEncoding(r.Header.Values("Content-Encoding"))
	coding := codings[name]
	if coding == nil || len(body.data) == 0 {
		return body, nil // identity, or decoded by confighttp
	}
	defer body.release()
	decoded := acquireBuffer()
	if err := coding.decode(body.data, decoded, limit); err != nil {
		decoded.release()
		return nil, bodyRefusal(err, reasonBodyUndecodable, "cannot decode the body as "+name, limit)
	}
	return decoded, nil
}

func bodyRefusal(err error, reason, detail string, limit int64) *refusal {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge || errors.Is(err, errBodyTooLarge) {
		return &refusal{http.StatusRequestEntityTooLarge, reasonBodyTooLarge, "envelope exceeds the size limit",
			fmt.Sprintf("the body has more than %d bytes, compressed or decompressed", limit)}
	}
	return &refusal{http.StatusBadRequest, reason, detail, err.Error()}
}
