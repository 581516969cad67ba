// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
)

var (
	magicGzip = []byte{0x1f, 0x8b}
	magicZstd = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

const (
	// maxZstdWindow limits the memory of a decoder to that of the recommended maximum window.
	maxZstdWindow = 8 << 20

	// maxLayers is the number of compressions that are removed: a compressed file may be compressed
	// again for transport.
	maxLayers = 3
)

// File is a decompressed file.
type File struct {
	Data []byte
	// Cut is the decompression error if the end of the compressed data is missing or damaged. A
	// killed collector leaves such a file.
	Cut error
}

// Load reads a whole file. It decompresses gzip, zstd and each message of the file exporter, and
// converts UTF-16 to UTF-8. It returns other files unchanged.
func Load(from io.Reader, limit int64) (File, error) {
	plain, done, err := decompressed(from, limit)
	defer done()
	if err != nil {
		return File{}, err
	}
	var file File
	file.Data, err = readLimited(plain, limit)
	if errors.Is(err, io.ErrUnexpectedEOF) && len(file.Data) > 0 {
		file.Cut, err = err, nil
	}
	if err == nil {
		file.Data, err = decodeText(file.Data, limit)
	}
	return file, err
}

// decompressed returns a reader of the content. The caller calls done at the end.
func decompressed(from io.Reader, limit int64) (plain *bufio.Reader, done func(), err error) {
	plain, done = bufio.NewReader(from), func() {}
	for range maxLayers {
		begin, _ := plain.Peek(prefixBytes + len(magicZstd))
		switch {
		case bytes.HasPrefix(begin, magicGzip):
			unzip, err := gzip.NewReader(plain)
			if err != nil {
				return nil, done, err
			}
			plain = bufio.NewReader(&layer{unzip, limit, limit})
		case bytes.HasPrefix(begin, magicZstd), isCompressedFrame(begin):
			options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow)}
			var stream io.Reader = plain
			if isCompressedFrame(begin) {
				stream, options = nil, append(options, zstd.WithDecoderMaxMemory(uint64(limit)+1))
			}
			decoder, err := zstd.NewReader(stream, options...)
			if err != nil {
				return nil, done, err
			}
			closeOuter := done
			done = func() { decoder.Close(); closeOuter() }
			if stream == nil {
				stream = &frameReader{from: plain, zstd: decoder, limit: limit}
			} else {
				stream = decoder
			}
			plain = bufio.NewReader(&layer{stream, limit, limit})
		default:
			return plain, done, nil
		}
	}
	return plain, done, nil
}

// layer is the content of a compression. Each is limited: an inner one of empty streams has
// gigabytes in a few kilobytes of the outer one, and no content that a limit of the file counts.
type layer struct {
	io.Reader
	left, limit int64
}

func (l *layer) Read(to []byte) (int, error) {
	n, err := l.Reader.Read(to)
	if l.left -= int64(n); l.left < 0 {
		return n, TooLargeError{l.limit}
	}
	return n, err
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

// decodeText removes a byte order mark, and decodes UTF-16, which PowerShell's > writes.
func decodeText(data []byte, limit int64) ([]byte, error) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:], nil
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return data, nil
	}
	text := make([]byte, 0, len(data)/2)
	for data = data[2:]; len(data) >= 2; data = data[2:] {
		r := rune(order.Uint16(data))
		if utf16.IsSurrogate(r) {
			low := rune(utf8.RuneError)
			if len(data) >= 4 {
				low = rune(order.Uint16(data[2:]))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				data = data[2:]
			}
		}
		text = utf8.AppendRune(text, r)
	}
	if int64(len(text)) > limit {
		return nil, TooLargeError{limit}
	}
	return text, nil
}

// losses returns the loss of a missing end.
func (f *File) losses() []importer.Loss {
	if f.Cut == nil {
		return nil
	}
	return []importer.Loss{{What: "end of the file: the compressed data are damaged or incomplete", Count: 1}}
}
