// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"fmt"
	"io"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// input is an object in a file. If the operating system can map the file, reading parts of it uses
// no heap memory.
type input struct {
	work   *symbols.Work
	file   io.ReaderAt
	size   int64
	mapped []byte
	inner  bool  // mapped is on the heap
	heap   int64 // bytes that were read without a mapping, or inflated
}

func newInput(work *symbols.Work, file io.ReaderAt, o Object) (in *input, closed func()) {
	in = &input{work: work, file: io.NewSectionReader(file, o.Offset, o.Size), size: o.Size}
	mapped, closed := mapFile(file, o.Offset+o.Size)
	if mapped != nil {
		in.mapped = mapped[o.Offset:]
		in.file = bytes.NewReader(in.mapped)
	}
	return in, closed
}

// part returns a part of the object. It is valid until the input is closed.
func (in *input) part(offset, size uint64) ([]byte, error) {
	if offset > uint64(in.size) || size > uint64(in.size)-offset {
		return nil, fmt.Errorf("%w: %d bytes at %d of %d", ErrDamaged, size, offset, in.size)
	}
	if in.mapped != nil {
		return in.mapped[offset:][:size:size], nil
	}
	if err := in.allocate(size); err != nil {
		return nil, err
	}
	b := make([]byte, size)
	_, err := in.file.ReadAt(b, int64(offset))
	return b, err
}

// allocate counts bytes of the heap.
func (in *input) allocate(size uint64) error {
	if size > maxHeap || in.heap+int64(size) > maxHeap {
		return ErrTooLarge
	}
	if err := in.work.Claim(int64(size)); err != nil {
		return err
	}
	in.heap += int64(size)
	return nil
}

// release returns the pages of the mapping to the operating system. They are read again when they
// are needed.
func (in *input) release() {
	if in.mapped != nil && !in.inner {
		unmapPages(in.mapped)
	}
}
