// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
)

// The collector's file exporter writes the length of a message before it, in four bytes, big
// endian: if the format is proto, or if it compresses each message. With the feature gate
// exporter.file.nativeCompression, it compresses the file instead.

// prefixBytes is the size of the length before a message.
const prefixBytes = 4

// maxFrames limits the memory of a list of messages, which may have one byte each.
const maxFrames = 1 << 20

// frames returns the messages of a file in which each message follows its length, and the number
// of incomplete messages at its end.
func frames(data []byte) (all [][]byte, cut int, err error) {
	for len(data) > 0 {
		if len(all) == maxFrames {
			return nil, 0, fmt.Errorf("it has more than %d messages", maxFrames)
		}
		if len(data) < prefixBytes {
			return all, 1, nil
		}
		n := binary.BigEndian.Uint32(data)
		data = data[prefixBytes:]
		if uint64(n) > uint64(len(data)) {
			return all, 1, nil
		}
		if n > 0 {
			all = append(all, data[:n])
		}
		data = data[n:]
	}
	return all, 0, nil
}

// firstFrame returns the first message, or its beginning, of a file in which each message follows
// its length. Such a file begins with a byte that no message of Protocol Buffers begins with,
// because messages are smaller than 128 MiB.
func firstFrame(data []byte) ([]byte, bool) {
	for len(data) > prefixBytes && data[0] < 8 {
		n := binary.BigEndian.Uint32(data)
		data = data[prefixBytes:]
		if n == 0 {
			continue
		}
		first := data[:min(uint64(n), uint64(len(data)))]
		return first, isJSON(first) || protoKindOf(first) == protoOTLP
	}
	return nil, false
}

// frameReader decompresses each message of a file. It returns JSON as lines, and other messages
// with their lengths.
type frameReader struct {
	from  io.Reader
	zstd  *zstd.Decoder
	limit int64 // of a message
	left  []byte
	found bool // a message
}

// isCompressedFrame reports whether a file begins with the length of a compressed message.
func isCompressedFrame(begin []byte) bool {
	return len(begin) == prefixBytes+len(magicZstd) && bytes.HasSuffix(begin, magicZstd)
}

func (r *frameReader) Read(to []byte) (int, error) {
	for len(r.left) == 0 {
		var err error
		if r.left, err = r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(to, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (r *frameReader) next() ([]byte, error) {
	var prefix [prefixBytes]byte
	if _, err := io.ReadFull(r.from, prefix[:]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(prefix[:]))
	packed, err := io.ReadAll(io.LimitReader(r.from, size))
	if err == nil && int64(len(packed)) < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil || size == 0 {
		return nil, err
	}
	plain, err := r.zstd.DecodeAll(packed, nil)
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), int64(len(plain)) > min(r.limit, math.MaxUint32):
		return nil, TooLargeError{r.limit}
	case err != nil && r.found: // after an incomplete message, the place of the next one is unknown
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	r.found = true
	if isJSON(plain) {
		return append(plain, '\n'), nil
	}
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, prefixBytes+len(plain)), uint32(len(plain))), plain...), nil
}
