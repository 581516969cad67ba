// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"errors"
	"io"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
)

// heldBody is the body of a request, which keeps what the receiver reads of it. Nothing is read before the receiver asks for it: so
// the body of a client that it rejects takes no memory here.
type heldBody struct {
	io.ReadCloser
	claim *httpbody.Claim // for the capacity of data
	size  int64           // as the client says, -1 = it does not
	data  []byte
	ended bool
	err   error // why it cannot be forwarded
}

const (
	// firstBuffer: half of all recorded bodies fit.
	firstBuffer = 4 << 10

	// exactBuffer is how large a body may say it is to get all its memory with its first bytes.
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
		if err := b.claim.Acquire(int64(size)); err != nil {
			b.fail(err)
			return
		}
		b.data = append(make([]byte, 0, size), b.data...)
		b.claim.ShrinkTo(int64(size))
	}
	b.data = append(b.data, read...)
}

// capacity is how much memory to have for so many bytes.
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

// finish reads what the receiver has left. The error says why the body cannot be forwarded.
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

var errIncomplete = errors.New("the body has no end")
