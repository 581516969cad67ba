// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"errors"
	"io"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
)

// heldBody is the body of a request. It keeps the bytes that the receiver reads. It reads nothing
// before the receiver does, so the body of a rejected client uses no memory.
type heldBody struct {
	io.ReadCloser
	claim *httpbody.Claim     // for the capacity of data
	room  func(n int64) error // adds n bytes to the claim
	size  int64               // Content-Length, or -1
	data  []byte
	ended bool
	err   error // the reason why the body cannot be forwarded
}

const (
	// firstBuffer is enough for half of all recorded bodies.
	firstBuffer = 4 << 10

	// exactBuffer is the largest Content-Length for which memory is allocated with the first bytes.
	exactBuffer = 64 << 10
)

// Read implements io.Reader.
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && b.err == nil {
		b.keep(p[:n])
	}
	switch {
	case err == io.EOF:
		b.ended = true
	case err != nil && b.err == nil:
		b.fail(err)
	}
	return n, err
}

func (b *heldBody) keep(read []byte) {
	if need := len(b.data) + len(read); need > cap(b.data) {
		size := b.capacity(need)
		if err := b.room(int64(size)); err != nil {
			b.fail(err)
			return
		}
		b.data = append(make([]byte, 0, size), b.data...)
		b.claim.ShrinkTo(int64(size))
	}
	b.data = append(b.data, read...)
}

// capacity returns the size of the buffer for a number of bytes.
func (b *heldBody) capacity(need int) int {
	if said := b.size; said >= int64(need) && said <= max(exactBuffer, 4*int64(need)) {
		return int(said)
	}
	return max(firstBuffer, 2*need)
}

func (b *heldBody) fail(err error) {
	b.err, b.data = err, nil
	b.claim.Release()
}

// finish reads the rest of the body after the receiver. The error is the reason why the body cannot
// be forwarded.
func (b *heldBody) finish() error {
	var rest []byte
	for !b.ended && b.err == nil {
		if rest == nil {
			rest = make([]byte, firstBuffer)
		}
		if _, err := b.Read(rest); err != nil {
			break
		}
	}
	if b.err == nil && !b.ended {
		b.fail(errIncomplete)
	}
	return b.err
}

var errIncomplete = errors.New("the body is incomplete")
