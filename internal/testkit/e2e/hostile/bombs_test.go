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

// gzipBomb returns 1 MB that decode to 1 GiB. Deflate encodes at most 1032 bytes in one, so 100 kB
// would stay below the limit.
func gzipBomb() []byte {
	var member bytes.Buffer
	w := gzip.NewWriter(&member)
	writeBlanks(w, 1<<20)
	w.Close()
	return bytes.Repeat(member.Bytes(), gibibyte>>20) // a gzip file may consist of several members
}

// gzipLie returns a few bytes with a trailer that states a decoded size of 4 GiB.
func gzipLie() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(`{}`))
	w.Close()
	binary.LittleEndian.PutUint32(b.Bytes()[b.Len()-4:], 1<<32-1)
	return b.Bytes()
}

// deflateBomb repeats the output of a flush, which is self-contained.
func deflateBomb() []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	const begin = 2 // the header, which precedes the first block
	writeBlanks(w, 1<<20)
	w.Flush()
	return append(b.Bytes(), bytes.Repeat(b.Bytes()[begin:], gibibyte>>20-1)...)
}

// brotliBomb returns a body that decodes to 4 GiB.
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

// zstdBomb returns a body that decodes to 3 GiB: each block of four bytes represents 128 KiB of one
// byte.
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

// zstdLie returns an empty frame that states a window of 3.75 TiB.
func zstdLie() []byte {
	return []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 1, 0, 0}
}

func writeBlanks(w io.Writer, n int) {
	blanks := bytes.Repeat([]byte{' '}, 1<<20)
	for range n / len(blanks) {
		_, _ = w.Write(blanks)
	}
}

// snappyLie returns an empty block that states a decoded size of 4 GiB.
func snappyLie() []byte { return []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0} }
