// SPDX-License-Identifier: Apache-2.0

package symbols

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
)

// Limits are the most that an honest file needs, per byte of the file.
type Limits struct {
	Steps  int64
	Memory int64 // bytes of memory
}

// Memory is the memory that all jobs share, for instance a *httpbody.Claim.
type Memory interface {
	// Acquire adds bytes to those that the job holds, or fails. Other jobs may release memory, so
	// that a later attempt can succeed.
	Acquire(bytes int64) error
	// ShrinkTo releases all but a number of bytes.
	ShrinkTo(bytes int64)
}

// Work is the job of reading one file. Readers count their steps, and claim memory before they
// allocate it: the numbers in a file decide about neither. A step takes about 1 to 20 ns: a byte
// that is parsed, an element that is visited, eight bytes that are copied, hashed or compared. A
// Work is used by one goroutine.
type Work struct {
	ctx    context.Context
	shared Memory

	steps, maxSteps   int64
	nextCheck         int64 // the number of steps at which the context is checked
	memory, maxMemory int64
	peak              int64
}

// MinMemory is the memory that a reader may claim for a file of any size.
const MinMemory = 16 << 20

const (
	// minSteps is for small files: a fraction of a second.
	minSteps = 1 << 24

	// checkEvery is the number of steps between two checks of the context: about a millisecond.
	checkEvery = 1 << 16
)

// The errors of a Work, apart from those of its context and of the shared memory. They depend on
// the file only, so that another attempt would fail, too.
var (
	ErrSteps  = errors.New("the file needs more work than its size justifies")
	ErrMemory = errors.New("the file needs more memory than its size justifies")
)

// NewWork returns the work of reading a file of size bytes. If shared is nil, only the limits of
// the reader apply.
func NewWork(ctx context.Context, size int64, l Limits, shared Memory) *Work {
	return &Work{
		ctx: ctx, shared: shared, nextCheck: checkEvery,
		maxSteps: atLeast(minSteps, size, l.Steps), maxMemory: atLeast(MinMemory, size, l.Memory),
	}
}

// atLeast returns least + size * each, or the maximum if that overflows.
func atLeast(least, size, each int64) int64 {
	if size > 0 && each > (math.MaxInt64-least)/size {
		return math.MaxInt64
	}
	return least + max(size, 0)*each
}

// Step counts steps. It fails if the job has no steps left, or if its context is done.
func (w *Work) Step(n int) error {
	w.steps += int64(max(n, 1))
	if w.steps < w.nextCheck {
		return nil
	}
	w.nextCheck = w.steps + checkEvery
	err := w.Err()
	if err != nil {
		w.nextCheck = 0 // all further steps fail
	}
	return err
}

// Err returns the reason why the job must end, nil if it may continue.
func (w *Work) Err() error {
	if w.steps > w.maxSteps {
		return fmt.Errorf("%w: %d steps", ErrSteps, w.steps)
	}
	return w.ctx.Err()
}

// Claim adds bytes to the memory of the job. It must be called before the memory is allocated.
func (w *Work) Claim(bytes int64) error {
	if bytes < 0 || bytes > w.maxMemory-w.memory {
		return fmt.Errorf("%w: %d bytes more than %d", ErrMemory, bytes, w.memory)
	}
	if w.shared != nil {
		if err := w.shared.Acquire(bytes); err != nil {
			return err
		}
	}
	w.memory += bytes
	w.peak = max(w.peak, w.memory)
	return nil
}

// Free releases bytes that are no longer referenced.
func (w *Work) Free(bytes int64) {
	w.memory -= min(bytes, w.memory)
	if w.shared != nil {
		w.shared.ShrinkTo(w.memory)
	}
}

// Steps returns the number of steps so far.
func (w *Work) Steps() int64 { return w.steps }

// Peak returns the largest number of bytes that were claimed at a time.
func (w *Work) Peak() int64 { return w.peak }

// bytesPerStep is the number of bytes that are read in a step.
const bytesPerStep = 8

// Reader returns a reader that counts its steps.
func (w *Work) Reader(from io.Reader) io.Reader { return &workReader{w, from} }

type workReader struct {
	work *Work
	from io.Reader
}

func (r *workReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if failure := r.work.Step(n / bytesPerStep); failure != nil {
		return n, failure
	}
	return n, err
}

// ReaderAt returns a reader that counts its steps.
func (w *Work) ReaderAt(from io.ReaderAt) io.ReaderAt { return &workReaderAt{w, from} }

type workReaderAt struct {
	work *Work
	from io.ReaderAt
}

func (r *workReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if err := r.work.Step(len(p) / bytesPerStep); err != nil {
		return 0, err
	}
	return r.from.ReadAt(p, at)
}
