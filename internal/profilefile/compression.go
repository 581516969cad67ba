// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

var (
	magicGzip = []byte{0x1f, 0x8b}
	magicZstd = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// maxZstdWindow limits the memory of a decoder to that of the recommended maximum window.
const maxZstdWindow = 8 << 20

// Decompress reads a whole file and decompresses gzip and zstd. It returns other files unchanged.
func Decompress(from io.Reader, limit int64) ([]byte, error) {
	buffered := bufio.NewReader(from)
	begin, _ := buffered.Peek(len(magicZstd))
	switch {
	case bytes.HasPrefix(begin, magicGzip):
		plain, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, err
		}
		return readLimited(plain, limit)
	case bytes.HasPrefix(begin, magicZstd):
		plain, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
		defer plain.Close()
		return readLimited(plain, limit)
	}
	return readLimited(buffered, limit)
}

// TooLargeError is the error of a file with more bytes than the limit, after decompression.
type TooLargeError struct{ Limit int64 }

func (e TooLargeError) Error() string { return fmt.Sprintf("it has more than %d bytes", e.Limit) }

func readLimited(stream io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(stream, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = TooLargeError{limit}
	}
	return data, err
}
