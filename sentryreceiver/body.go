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
type buffer struct {
	data  []byte
	room  int // bytes that the claim holds for data; never more than its capacity
	claim *claim
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func acquireBuffer(c *claim) *buffer {
	b := buffers.Get().(*buffer)
	b.claim = c
	return b
}

// release gives the memory to the next request: nothing may point into it any more. The claim keeps its bytes.
func (b *buffer) release() {
	if cap(b.data) <= maxPooledBuffer {
		*b = buffer{data: b.data[:0]}
		buffers.Put(b)
	}
}

// fill reads src to its end. size is how long that is said to be, -1 if nothing is said; trusted is how much of that to
// believe at once. More than limit bytes give errBodyTooLarge.
func (b *buffer) fill(src io.Reader, size int64, trusted int, limit int64) error {
	size = min(size, limit)
	if err := b.reserve(int(min(size+1, int64(max(trusted, minBuffer))))); err != nil {
		return err
	}
	for {
		if len(b.data) == b.room {
			next := int(min(limit+1, int64(2*len(b.data))))
			if len(b.data) <= int(size) {
				next = min(int(size)+1, growth*len(b.data)) // to the said size, and one byte that is not there
			}
			if err := b.reserve(next); err != nil {
				return err
			}
		}
		n, err := src.Read(b.data[len(b.data):b.room])
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

// reserve makes room for n bytes in all, once the claim has them. Memory from the pool is no smaller than what it is needed
// for, and only as much is claimed: else forty slow requests that need a few bytes each would fill the collector.
func (b *buffer) reserve(n int) error {
	n = max(n, minBuffer)
	switch {
	case n <= b.room:
		return nil
	case n <= cap(b.data):
		if err := b.claim.acquire(int64(n - b.room)); err != nil {
			return err
		}
	default: // for a moment there are both
		if err := b.claim.acquire(int64(n)); err != nil {
			return err
		}
		b.data = append(make([]byte, 0, n), b.data...)
		b.claim.give(int64(b.room))
	}
	b.room = n
	return nil
}

// readBody reads the body of a request as it came. The error is a *refusal.
func readBody(r *http.Request, limit int64, c *claim) (*buffer, error) {
	body := acquireBuffer(c)
	if err := body.fill(r.Body, r.ContentLength, 0, limit); err != nil {
		body.release()
		return nil, bodyRefusal(err, reasonBodyUnreadable, "cannot read the body", limit)
	}
	return body, nil
}

// decoded gives the body without its coding, and lets go of the body as it came. The error is a *refusal.
func (b *buffer) decoded(header http.Header, limit int64) (*buffer, error) {
	name := normalEncoding(header.Values("Content-Encoding"))
	coding := codings[name]
	if coding == nil || len(b.data) == 0 {
		return b, nil // identity, or decoded by confighttp
	}
	defer b.release()
	decoded := acquireBuffer(b.claim)
	if err := coding.decode(b.data, decoded, limit); err != nil {
		decoded.release()
		return nil, bodyRefusal(err, reasonBodyUndecodable, "cannot decode the body as "+name, limit)
	}
	return decoded, nil
}

func bodyRefusal(err error, reason, detail string, limit int64) *refusal {
	if busy, ok := errors.AsType[*refusal](err); ok {
		return busy
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge || errors.Is(err, errBodyTooLarge) {
		return &refusal{http.StatusRequestEntityTooLarge, reasonBodyTooLarge, "envelope exceeds the size limit",
			fmt.Sprintf("the body has more than %d bytes, compressed or decompressed", limit)}
	}
	return &refusal{http.StatusBadRequest, reason, detail, err.Error()}
}
