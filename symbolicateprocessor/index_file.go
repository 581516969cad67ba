// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// indexFile is a temporary file in the directory of indexes: an index, or a binary that was
// extracted from an archive. Its bytes count in store::max_index_bytes before they are written, and
// other indexes are removed for them.
type indexFile struct {
	*os.File
	indexes  *indexes
	tenant   tenant.Tenant
	work     *symbols.Work
	size     int64
	reserved int64 // bytes that may be written before the next check
}

// reserveEvery is the number of bytes that are reserved at a time, unless the limit is small.
const reserveEvery = 16 << 20

// errIndexBytes is the error of a file that does not fit without all other indexes.
var errIndexBytes = errors.New("the index and the extracted content of the file need more than store::max_index_bytes")

// errIndexShare is the error of a file that does not fit beside the indexes of other tenants.
var errIndexShare = errors.New("the index needs more than the share of the tenant in store::max_index_bytes")

// create creates a temporary file. It is locked, and its name ends with the suffix of indexes, so
// that clean removes it after a crash only.
func (x *indexes) create(kind string, t tenant.Tenant, work *symbols.Work) (*indexFile, error) {
	file, err := os.CreateTemp(x.directory, kind+"-*"+indexSuffix)
	if err != nil {
		return nil, fmt.Errorf("cannot create an index; set store::index_directory: %w", err)
	}
	lockFile(file)
	f := &indexFile{File: file, indexes: x, tenant: t, work: work}
	x.temporary[filepath.Base(file.Name())] = f
	return f, nil
}

// remove closes and removes the file.
func (f *indexFile) remove() error {
	delete(f.indexes.temporary, filepath.Base(f.Name()))
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// publish closes the file and makes it the index with a name.
func (f *indexFile) publish(name string) error {
	delete(f.indexes.temporary, filepath.Base(f.Name()))
	err := f.Close()
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Write implements io.Writer.
func (f *indexFile) Write(p []byte) (int, error) {
	n, err := f.WriteAt(p, f.size)
	return n, err
}

// WriteAt implements io.WriterAt.
func (f *indexFile) WriteAt(p []byte, at int64) (int, error) {
	if err := f.work.Step(len(p) / bytesPerStep); err != nil {
		return 0, err
	}
	if more := at + int64(len(p)) - f.size; more > 0 {
		if err := f.reserve(more); err != nil {
			return 0, err
		}
		f.reserved -= more
		f.size += more
	}
	return f.File.WriteAt(p, at)
}

// bytesPerStep is the number of bytes that are written in a step.
const bytesPerStep = 8

// Truncate implements debugid.File.
func (f *indexFile) Truncate(size int64) error {
	f.size, f.reserved = size, 0
	return f.File.Truncate(size)
}

func (f *indexFile) reserve(more int64) error {
	if more <= f.reserved {
		return nil
	}
	wanted := max(more, min(reserveEvery, f.indexes.limit/64))
	if err := f.indexes.makeRoom(f.tenant, f, wanted); err != nil {
		return err
	}
	f.reserved = wanted
	return nil
}

// isTemporary reports whether a file is a temporary one: the names of indexes have no dash.
func isTemporary(name string) bool { return strings.Contains(name, "-") }

// clean removes the temporary files of a collector that was killed, but not those that another
// processor or collector is writing.
func (x *indexes) clean() {
	entries, _ := os.ReadDir(x.directory) // there may be none
	for _, entry := range entries {
		if name := filepath.Join(x.directory, entry.Name()); filepath.Ext(name) == indexSuffix && isTemporary(entry.Name()) {
			if file, err := os.Open(name); err == nil {
				if lockFile(file) {
					_ = os.Remove(name)
				}
				_ = file.Close()
			}
		}
	}
}

// maxIndexing bounds the memory for indexing an object.
const maxIndexing = 320 << 20

// indexMemory is the memory of an indexing job.
type indexMemory struct{ held int64 }

// Acquire implements symbols.Memory.
func (m *indexMemory) Acquire(bytes int64) error {
	if bytes > maxIndexing-m.held {
		return fmt.Errorf("%w: %d bytes", symbols.ErrMemory, m.held+bytes)
	}
	m.held += bytes
	return nil
}

// ShrinkTo implements symbols.Memory.
func (m *indexMemory) ShrinkTo(bytes int64) { m.held = bytes }
