// SPDX-License-Identifier: Apache-2.0

package native

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// Summary describes an index.
type Summary struct {
	Units, Symbols int
	// Incomplete is the reason why some names of the file are not in the index.
	Incomplete error
}

// Index writes the table of an object. It needs at most some 300 MB of memory, whatever the file:
// see maxBuilt and maxHeap. The work is that of Limits for the size of the object.
func Index(work *symbols.Work, to io.Writer, file io.ReaderAt, o Object) (summary Summary, err error) {
	in, closed := newInput(work, file, o)
	defer closed()
	b := newBuilder(work, o.Size)
	defer b.close()
	// The readers of the standard library are not designed for hostile files. A file that shrinks
	// while it is mapped causes a memory fault.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case stopped:
			err = failure.error
		default:
			err = fmt.Errorf("%w: %v", ErrDamaged, failure)
		}
	}()
	switch o.Format {
	case ELF:
		err = indexELF(b, in, &summary)
	case MachO:
		err = indexMachO(b, in, &summary)
	case Breakpad:
		err = indexBreakpad(b, in, &summary)
	default:
		err = ErrFormat
	}
	if err == nil {
		err = b.err
	}
	if err == nil {
		// A part that could not be read is left out, but not because the job was stopped.
		err = work.Err()
	}
	if err != nil {
		return summary, err
	}
	summary.Symbols = len(b.symbols)
	in.release()
	return summary, b.write(to)
}

// note keeps the first reason why an index is incomplete.
func (s *Summary) note(err error) {
	if s.Incomplete == nil {
		s.Incomplete = err
	}
}
