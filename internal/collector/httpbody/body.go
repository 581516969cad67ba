// SPDX-License-Identifier: Apache-2.0

// Package httpbody reads and decodes the bodies of requests within a memory budget for all requests
// together. A request that does not get the memory fails before the memory is used.
//
//	claim := budget.Claim(ctx)
//	defer claim.Release()
//	body, err := httpbody.Read(req, limit, claim)   // still encoded
//	…
//	defer body.Release()
//	err = body.Decode(httpbody.Coding(req.Header.Values("Content-Encoding")), limit)
//	…                                               // body.Data
package httpbody

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"sync"
)

const (
	// maxPooledBuffer is the maximum size of a buffer that is reused. Nearly all bodies fit; a
	// buffer of 50 MB is freed.
	maxPooledBuffer = 8 << 20

	// minBuffer is larger than half of the recorded bodies when decoded.
	minBuffer = 64 << 10

	// firstRead is the number of bytes that are read before the body claims memory: many
	// connections may send only headers. firstBuffer is the first claim.
	firstRead   = 512
	firstBuffer = 4 << 10

	// maxTrustedRatio is the maximum ratio of stated decoded size to encoded size for which the
	// memory is reserved at once. With a higher ratio, the memory grows with the decoded bytes. The
	// ratio of Node.js chunks is up to 27.
	maxTrustedRatio = 32

	// growth is the maximum ratio of reserved memory to received bytes for a body with a stated
	// size: any client can state a large Content-Length.
	growth = 4
)

// ErrTooLarge is the error of a body that exceeds the limit, encoded or decoded.
var ErrTooLarge = errors.New("body is too large")

// Body is the body of one request.
type Body struct {
	Data     []byte
	reserved int // bytes that the claim holds for Data; never more than its capacity
	claim    *Claim
}

var (
	bodies     = sync.Pool{New: func() any { return new(Body) }}
	firstReads = sync.Pool{New: func() any { return new([firstRead]byte) }}
)

func acquire(c *Claim) *Body {
	b := bodies.Get().(*Body)
	b.claim = c
	return b
}

// Release makes the memory available to the next request: no reference to Data may remain. The
// claim keeps its bytes, because the translation of the body is as large.
func (b *Body) Release() {
	if cap(b.Data) <= maxPooledBuffer {
		*b = Body{Data: b.Data[:0]}
		bodies.Put(b)
	}
}

// fill reads src to its end. size is its stated length, or -1; memory for up to trusted bytes of it
// is reserved at once. If there are more than limit bytes, the error is ErrTooLarge.
func (b *Body) fill(src io.Reader, size int64, trusted int, limit int64) error {
	size = min(size, limit)
	if trusted > 0 {
		if err := b.reserve(max(minBuffer, int(min(size+1, int64(trusted))))); err != nil {
			return err
		}
	}
	for {
		if len(b.Data) == b.reserved {
			if err := b.reserve(b.next(size, limit)); err != nil {
				return err
			}
		}
		n, err := src.Read(b.Data[len(b.Data):b.reserved])
		b.Data = b.Data[:len(b.Data)+n]
		switch {
		case int64(len(b.Data)) > limit:
			return ErrTooLarge
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// next returns the next size of the buffer, when it is full.
func (b *Body) next(size, limit int64) int {
	arrived := int64(len(b.Data))
	switch {
	case arrived <= size: // up to the stated size, and one byte to detect the end
		return int(min(size+1, growth*arrived))
	case arrived < minBuffer:
		return int(min(limit+1, growth*arrived))
	}
	return int(min(limit+1, 2*arrived))
}

// reserve enlarges the buffer to n bytes, once the claim holds them. A buffer from the pool may be
// larger, but only the bytes in use are claimed: otherwise forty slow requests with a few bytes
// each would use up the budget.
func (b *Body) reserve(n int) error {
	n = max(n, firstBuffer)
	switch {
	case n <= b.reserved:
		return nil
	case n <= cap(b.Data):
		if err := b.claim.Acquire(int64(n - b.reserved)); err != nil {
			return err
		}
	default: // both buffers exist during the copy
		if err := b.claim.Acquire(int64(n)); err != nil {
			return err
		}
		b.Data = append(make([]byte, 0, n), b.Data...)
		b.claim.shrinkBy(int64(b.reserved))
	}
	b.reserved = n
	return nil
}

// Read reads the body of a request without decoding it, up to limit bytes. The error is
// ErrTooLarge, ErrNoMemory or one of the connection.
func Read(r *http.Request, limit int64, c *Claim) (*Body, error) {
	first := firstReads.Get().(*[firstRead]byte)
	defer firstReads.Put(first)
	n, err := io.ReadAtLeast(r.Body, first[:], 1)
	b := acquire(c)
	if err == io.EOF {
		return b, nil // no body
	}
	if err == nil {
		err = b.reserve(firstBuffer)
	}
	if err == nil {
		b.Data = append(b.Data, first[:n]...)
		err = b.fill(r.Body, r.ContentLength, 0, limit)
	}
	if err != nil {
		b.Release()
		return nil, readError(err)
	}
	return b, nil
}

// readError returns ErrTooLarge for the error of confighttp's own limit.
func readError(err error) error {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return ErrTooLarge
	}
	return err
}

// Decode replaces the encoded body by the decoded one. The error is ErrTooLarge, ErrNoMemory or one
// of the decoder.
func (b *Body) Decode(name string, limit int64) error {
	coding := codings[name]
	if coding == nil || len(b.Data) == 0 {
		return nil // identity, or decoded by confighttp
	}
	return b.replace(func(decoded *Body) error { return coding.decode(b.Data, decoded, limit) })
}

// Decoded returns the decoded form of bytes, which it does not change. The errors are those of
// Decode. The caller releases the body.
func Decoded(encoded []byte, name string, limit int64, c *Claim) (*Body, error) {
	b := acquire(c)
	var err error
	if coding := codings[name]; coding != nil && len(encoded) > 0 {
		err = coding.decode(encoded, b, limit)
	} else if err = b.reserve(len(encoded)); err == nil {
		b.Data = append(b.Data, encoded...)
	}
	if err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// DecodeBase64 replaces the body by the decoded form of text, which is a part of the body without
// padding.
func (b *Body) DecodeBase64(text []byte) error {
	return b.replace(func(decoded *Body) error {
		if err := decoded.reserve(base64.RawStdEncoding.DecodedLen(len(text))); err != nil {
			return err
		}
		n, err := base64.RawStdEncoding.Decode(decoded.Data[:cap(decoded.Data)], text)
		decoded.Data = decoded.Data[:n]
		return err
	})
}

func (b *Body) replace(fill func(*Body) error) error {
	other := acquire(b.claim)
	defer other.Release()
	if err := fill(other); err != nil {
		return err
	}
	*b, *other = *other, *b
	b.claim.shrinkBy(int64(other.reserved))
	return nil
}
