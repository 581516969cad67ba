// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"io"

	"github.com/andybalholm/brotli"
)

const gibibyte = 1 << 30

// gzipBomb decodes to a GiB. Deflate packs 1032 bytes into one at best, so that takes a megabyte; 100 kB stay below the limit.
func gzipBomb() []byte {
	var member bytes.Buffer
	w := gzip.NewWriter(&member)
	writeBlanks(w, 1<<20)
	w.Close()
	return bytes.Repeat(member.Bytes(), gibibyte>>20) // a gzip file may have several members
}

// gzipLie is a few bytes whose trailer says that they decode to 4 GiB.
func gzipLie() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(`{}`))
	w.Close()
	binary.LittleEndian.PutUint32(b.Bytes()[b.Len()-4:], 1<<32-1)
	return b.Bytes()
}

// deflateBomb: what a flush writes stands for itself, so that it can be repeated.
func deflateBomb() []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	const begin = 2 // the header, which comes with the first block
	writeBlanks(w, 1<<20)
	w.Flush()
	return append(b.Bytes(), bytes.Repeat(b.Bytes()[begin:], gibibyte>>20-1)...)
}

// brotliBomb decodes to 4 GiB.
func brotliBomb() []byte {
	var b bytes.Buffer
	w := brotli.NewWriterLevel(&b, 5)
	writeBlanks(w, 4<<20)
	w.Flush()
	begin := b.Len()
	writeBlanks(w, 4<<20)
	w.Flush()
	return append(b.Bytes(), bytes.Repeat(b.Bytes()[begin:], 4*gibibyte/(4<<20)-2)...)
}

// zstdBomb decodes to 3 GiB: blocks of four bytes that each stand for 128 KiB of one byte.
func zstdBomb() []byte {
	const (
		windowLog8MiB = (23 - 10) << 3
		blockSize     = 128 << 10
		repeated      = 1 // block type
	)
	bomb := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, windowLog8MiB}
	header := uint32(blockSize<<3 | repeated<<1)
	block := []byte{byte(header), byte(header >> 8), byte(header >> 16), ' '}
	return append(bomb, bytes.Repeat(block, 3*gibibyte/blockSize)...)
}

// zstdLie is a frame of nothing that says it needs a window of 3.75 TiB.
func zstdLie() []byte {
	return []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 1, 0, 0}
}

func writeBlanks(w io.Writer, n int) {
	blanks := bytes.Repeat([]byte{' '}, 1<<20)
	for range n / len(blanks) {
		_, _ = w.Write(blanks)
	}
}

// snappyLie is a block of nothing that says it decodes to 4 GiB.
func snappyLie() []byte { return []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0} }
