// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// maxPeek is how much of an encoded body is read to see how it begins: a block of zstd, of 128 KiB (RFC 8878, 3.1.1.2.4), is decoded
// when it is complete.
const maxPeek = 130 << 10

// Peek decodes the beginning of a body, limit bytes at most, until enough reports that it is. The request keeps all of its body.
// The error is ErrTooLarge, ErrNoRoom, one of the decoder or of the connection; that there was not enough is none.
func Peek(r *http.Request, name string, limit int, c *Claim, enough func(decoded []byte) bool) error {
	first := make([]byte, firstRead)
	n, err := io.ReadAtLeast(r.Body, first, 1)
	if err != nil && err != io.EOF {
		return readError(err)
	}
	encoded, rest := &Body{Data: first[:n], claim: c}, r.Body
	defer func() { r.Body = replayed{io.MultiReader(bytes.NewReader(encoded.Data), rest), rest} }()
	for size := firstRead; ; size = min(growth*size, maxPeek) { // in steps: a decoder begins anew each time
		ended, err := encoded.readTo(rest, size)
		if err != nil {
			return readError(err)
		}
		found, err := encoded.begins(name, limit, enough)
		if found || size == maxPeek {
			return nil
		}
		if ended || errors.Is(err, ErrNoRoom) {
			return err
		}
	}
}

// PeekAt is Peek for an encoded body that is there. It reports whether there was enough.
func PeekAt(encoded []byte, name string, limit int, c *Claim, enough func(decoded []byte) bool) (bool, error) {
	b := &Body{Data: encoded[:min(len(encoded), maxPeek)], claim: c}
	return b.begins(name, limit, enough)
}

// replayed is a body whose beginning has been read before.
type replayed struct {
	io.Reader
	io.Closer
}

// readTo reads until there are n bytes, or to the end.
func (b *Body) readTo(src io.Reader, n int) (ended bool, err error) {
	if err := b.reserve(n); err != nil {
		return false, err
	}
	read, err := io.ReadFull(src, b.Data[len(b.Data):n])
	b.Data = b.Data[:len(b.Data)+read]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return true, nil // a body that is cut off says so again when it is read
	}
	return false, err
}

// begins asks whether what an encoded body decodes to so far is enough.
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
	defer func() { b.claim.give(int64(decoded.room)) }()
	return enough(decoded.Data), err
}

// narrow lowers the window that a brotli stream asks for to 256 KiB, until the returned function is called. A decoder gives its first
// byte when it has filled the window, which 20 bytes may do: with one of 16 MiB that takes as long as a large profile. What is
// encoded before the end of a window does not depend on its size (RFC 7932, 4), and 256 KiB are more than a Peek is for.
func narrow(stream []byte) (restore func()) {
	first := stream[0]
	if first&1 == 1 && first>>1&7 > 1 { // four bits for windows from 18 to 24 (9.1)
		stream[0] = first&^0x0e | 1<<1
	}
	return func() { stream[0] = first }
}
