// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// maxPeek is the maximum number of encoded bytes that Peek reads: decoders need a complete zstd
// block of up to 128 KiB (RFC 8878, 3.1.1.2.4).
const maxPeek = 130 << 10

// Peek decodes the beginning of a body, up to limit bytes, until enough returns true. The body of
// the request remains complete. The error is ErrTooLarge, ErrNoMemory, or one of the decoder or the
// connection. It is nil if enough never returns true.
func Peek(r *http.Request, name string, limit int, c *Claim, enough func(decoded []byte) bool) error {
	first := make([]byte, firstRead)
	n, err := io.ReadAtLeast(r.Body, first, 1)
	if err != nil && err != io.EOF {
		return readError(err)
	}
	encoded, rest := &Body{Data: first[:n], claim: c}, r.Body
	defer func() { r.Body = replayed{io.MultiReader(bytes.NewReader(encoded.Data), rest), rest} }()
	for size := firstRead; ; size = min(growth*size, maxPeek) { // in steps, because every attempt starts from the beginning
		ended, err := encoded.readTo(rest, size)
		if err != nil {
			return readError(err)
		}
		found, err := encoded.begins(name, limit, enough)
		if found || size == maxPeek {
			return nil
		}
		if ended || errors.Is(err, ErrNoMemory) {
			return err
		}
	}
}

// PeekAt is Peek for an encoded body in memory. It reports whether enough returned true.
func PeekAt(encoded []byte, name string, limit int, c *Claim, enough func(decoded []byte) bool) (bool, error) {
	b := &Body{Data: encoded[:min(len(encoded), maxPeek)], claim: c}
	return b.begins(name, limit, enough)
}

// replayed is a body that starts with bytes that were read before.
type replayed struct {
	io.Reader
	io.Closer
}

// readTo reads until the body has n bytes, or to its end.
func (b *Body) readTo(src io.Reader, n int) (ended bool, err error) {
	if err := b.reserve(n); err != nil {
		return false, err
	}
	read, err := io.ReadFull(src, b.Data[len(b.Data):n])
	b.Data = b.Data[:len(b.Data)+read]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return true, nil // reading a truncated body again returns the error again
	}
	return false, err
}

// begins decodes the bytes so far and returns the result of enough.
func (b *Body) begins(name string, limit int, enough func([]byte) bool) (bool, error) {
	coding := codings[name]
	if coding == nil || len(b.Data) == 0 {
		return enough(b.Data[:min(len(b.Data), limit)]), nil
	}
	if name == Brotli {
		defer narrow(b.Data)()
	}
	decoded := acquire(b.claim)
	defer decoded.Release()
	err := coding.begin(b.Data, decoded, limit)
	defer func() { b.claim.shrinkBy(int64(decoded.reserved)) }()
	return enough(decoded.Data), err
}

// narrow lowers the window size in the header of a brotli stream to 256 KiB, until the returned
// function is called. A decoder returns its first byte only after it has filled the window. 20
// bytes of input can fill a window of 16 MiB, which takes as long as decoding a large profile. The
// decoded bytes before the end of a window do not depend on its size (RFC 7932, 4), and Peek reads
// less than 256 KiB.
func narrow(stream []byte) (restore func()) {
	first := stream[0]
	if first&1 == 1 && first>>1&7 > 1 { // four bits for windows from 18 to 24 (9.1)
		stream[0] = first&^0x0e | 1<<1
	}
	return func() { stream[0] = first }
}
