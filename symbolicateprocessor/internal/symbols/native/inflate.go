// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz/lzma"
)

// inflate inflates a section. size is the size that the file states.
func (in *input) inflate(kind elf.CompressionType, packed []byte, size uint64) ([]byte, error) {
	if size/maxRatio > uint64(len(packed)) {
		return nil, fmt.Errorf("%w: inflates from %d to %d bytes", ErrTooLarge, len(packed), size)
	}
	var from io.Reader
	switch kind {
	case elf.COMPRESS_ZLIB:
		inflated, err := zlib.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		from = inflated
	case elf.COMPRESS_ZSTD:
		window := max(size, zstd.MinWindowSize) // at least what the decoder allocates for a single segment
		if window > maxHeap {
			return nil, fmt.Errorf("%w: inflates to %d bytes", ErrTooLarge, size)
		}
		if err := in.work.Claim(int64(window)); err != nil {
			return nil, err
		}
		defer in.work.Free(int64(window))
		inflated, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(window), zstd.WithDecoderMaxWindow(max(window, zstd.MinWindowSize)))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		defer inflated.Close()
		from = inflated
	default:
		return nil, fmt.Errorf("%w: compression %d", ErrDamaged, kind)
	}
	content, err := in.readAll(nil, from, size)
	if err == nil && uint64(len(content)) < size {
		err = fmt.Errorf("%w: inflates to %d of %d bytes", ErrDamaged, len(content), size)
	}
	return content, err
}

// readAll appends the bytes of a reader, ErrTooLarge if there are more than limit. It claims memory
// as they arrive.
func (in *input) readAll(content []byte, from io.Reader, limit uint64) ([]byte, error) {
	for {
		if uint64(len(content)) == limit {
			var one [1]byte
			if n, err := io.ReadFull(from, one[:]); n == 0 {
				return content, damaged(err)
			}
			return nil, fmt.Errorf("%w: inflates to more than %d bytes", ErrTooLarge, limit)
		}
		if len(content) == cap(content) {
			more := min(max(uint64(cap(content)), 64<<10), limit-uint64(len(content)))
			if err := in.allocate(more); err != nil {
				return nil, err
			}
			content = append(make([]byte, 0, uint64(cap(content))+more), content...)
		}
		n, err := from.Read(content[len(content):min(uint64(cap(content)), limit)])
		content = content[:len(content)+n]
		if failure := in.work.Step(n); failure != nil {
			return nil, failure
		}
		if err != nil {
			return content, damaged(err)
		}
	}
}

// damaged returns the error of a decoder, nil at the end of its input.
func damaged(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// The container xz (tukaani.org/xz/xz-file-format.txt): a stream header, blocks with a header, data
// and a checksum, and an index.
const (
	xzMagic      = "\xfd7zXZ\x00"
	xzStreamHead = 12
	xzLZMA2      = 0x21
)

// unxz inflates a stream of xz. The library's own reader of the container allocates dictionaries of
// the sizes that block headers state, up to 4 GiB: a dictionary needs no more than what is
// inflated.
func (in *input) unxz(packed []byte, limit uint64) (content []byte, err error) {
	c := cursor{data: packed, order: binary.LittleEndian}
	head := c.take(xzStreamHead)
	if c.bad || string(head[:len(xzMagic)]) != xzMagic {
		return nil, fmt.Errorf("%w: no xz header", ErrDamaged)
	}
	checksum := uint64(0)
	if kind := head[7] & 15; kind > 0 {
		checksum = 4 << ((kind - 1) / 3)
	}
	for {
		length := c.u8()
		if length == 0 || c.bad { // the index
			return content, nil
		}
		block := c.cut(4*uint64(length) + 3)
		flags := block.u8()
		for _, present := range []uint8{0x40, 0x80} {
			if flags&present != 0 {
				block.uleb()
			}
		}
		filter, properties, dictionary := block.uleb(), block.uleb(), block.u8()
		if block.bad || flags&3 != 0 || filter != xzLZMA2 || properties != 1 || dictionary > 40 {
			return nil, fmt.Errorf("%w: an xz block", ErrDamaged)
		}
		size := max(min(uint64(2|dictionary&1)<<(dictionary/2+11), limit), lzma.MinDictCap)
		if err := in.work.Claim(int64(size)); err != nil {
			return nil, err
		}
		data := bytes.NewReader(c.data)
		inflated, err := lzma.Reader2Config{DictCap: int(size)}.NewReader2(data)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if content, err = in.readAll(content, inflated, limit); err != nil {
			return nil, err
		}
		in.work.Free(int64(size))
		used := uint64(len(c.data) - data.Len())
		c.take((used+3)&^3 + checksum)
	}
}
