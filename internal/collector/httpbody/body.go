// SPDX-License-Identifier: Apache-2.0

// Package httpbody reads the bodies of requests into memory that all of them together have a bound for: as they come, then
// decoded. Who cannot be given the memory is told so before it is spent.
//
//	claim := room.Claim(ctx)
//	defer claim.Release()
//	body, err := httpbody.Read(req, limit, claim)   // as it came
//	…
//	defer body.Release()
//	err = body.Decode(httpbody.Coding(req.Header.Values("Content-Encoding")), limit)
//	…                                               // body.Data
package httpbody

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"sync"
)

const (
	// maxPooledBuffer is what a buffer may keep between requests. Nearly all bodies fit; one of 50 MB gives its memory back.
	maxPooledBuffer = 8 << 20

	// minBuffer: half of the recorded bodies have less than this when decoded.
	minBuffer = 64 << 10

	// firstRead is how much of a body is read before it claims any memory: many connections may send their headers and no more.
	// firstBuffer is what it claims then.
	firstRead   = 512
	firstBuffer = 4 << 10

	// maxTrustedRatio is how many times larger than its encoded form a body may say it is to have all the memory at once;
	// one that claims more gets it as its bytes come. Node's chunks repeat themselves 27 times.
	maxTrustedRatio = 32

	// growth is how far ahead of arrived bytes memory may run for a body that says how large it is. A Content-Length costs
	// nothing to claim.
	growth = 4
)

// ErrTooLarge is why a body is not read: it has more bytes than are allowed, encoded or decoded.
var ErrTooLarge = errors.New("body is too large")

// Body is the body of one request. Read makes one.
type Body struct {
	Data  []byte
	room  int // bytes that the claim holds for data; never more than its capacity
	claim *Claim
}

var bodies = sync.Pool{New: func() any { return new(Body) }}

func acquire(c *Claim) *Body {
	b := bodies.Get().(*Body)
	b.claim = c
	return b
}

// Release gives the memory to the next request: nothing may point into it any more. The claim keeps its bytes, as what was made of
// the body is as large.
func (b *Body) Release() {
	if cap(b.Data) <= maxPooledBuffer {
		*b = Body{Data: b.Data[:0]}
		bodies.Put(b)
	}
}

// fill reads src to its end. size is how long that is said to be, -1 if nothing is said; trusted is how much of that to
// believe at once. More than limit bytes give ErrTooLarge.
func (b *Body) fill(src io.Reader, size int64, trusted int, limit int64) error {
	size = min(size, limit)
	if trusted > 0 {
		if err := b.reserve(max(minBuffer, int(min(size+1, int64(trusted))))); err != nil {
			return err
		}
	}
	for {
		if len(b.Data) == b.room {
			if err := b.reserve(b.next(size, limit)); err != nil {
				return err
			}
		}
		n, err := src.Read(b.Data[len(b.Data):b.room])
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

// next is how many bytes to have room for when those so far are used up.
func (b *Body) next(size, limit int64) int {
	arrived := int64(len(b.Data))
	switch {
	case arrived <= size: // to the said size, and one byte that is not there
		return int(min(size+1, growth*arrived))
	case arrived < minBuffer:
		return int(min(limit+1, growth*arrived))
	}
	return int(min(limit+1, 2*arrived))
}

// reserve makes room for n bytes in all, once the claim has them. Memory from the pool is no smaller than what it is needed
// for, and only as much is claimed: else forty slow requests that need a few bytes each would fill the collector.
func (b *Body) reserve(n int) error {
	n = max(n, firstBuffer)
	switch {
	case n <= b.room:
		return nil
	case n <= cap(b.Data):
		if err := b.claim.Acquire(int64(n - b.room)); err != nil {
			return err
		}
	default: // for a moment there are both
		if err := b.claim.Acquire(int64(n)); err != nil {
			return err
		}
		b.Data = append(make([]byte, 0, n), b.Data...)
		b.claim.give(int64(b.room))
	}
	b.room = n
	return nil
}

// Read reads the body of a request as it came, at most limit bytes of it. The error is ErrTooLarge, ErrNoRoom or one of the
// connection.
func Read(r *http.Request, limit int64, c *Claim) (*Body, error) {
	first := make([]byte, firstRead)
	n, err := io.ReadAtLeast(r.Body, first, 1)
	b := acquire(c)
	switch {
	case err == io.EOF:
		return b, nil // there is none
	case err == nil:
		err = b.fill(io.MultiReader(bytes.NewReader(first[:n]), r.Body), r.ContentLength, 0, limit)
	}
	if err != nil {
		b.Release()
		return nil, readError(err)
	}
	return b, nil
}

// readError is the error of a body that cannot be read. confighttp has a limit of its own.
func readError(err error) error {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return ErrTooLarge
	}
	return err
}

// Decode puts the decoded body in place of the encoded one. The error is ErrTooLarge, ErrNoRoom or one of the decoder.
func (b *Body) Decode(name string, limit int64) error {
	coding := codings[name]
	if coding == nil || len(b.Data) == 0 {
		return nil // identity, or decoded by confighttp
	}
	return b.replace(func(decoded *Body) error { return coding.decode(b.Data, decoded, limit) })
}

// Decoded returns what bytes decode to, which stay as they are. The errors are those of Decode. Release the body.
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

// DecodeBase64 puts what text encodes, which is a part of the body without its padding, in place of all of it.
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
	b.claim.give(int64(other.room))
	return nil
}
