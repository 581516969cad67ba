// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/debugid"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// indexes manages the tables of native files on disk. Each object is indexed only once, because
// reading DWARF takes seconds.
type indexes struct {
	directory string
	limit     int64
	logger    *zap.Logger

	// open has the names of open indexes, and closeOne closes one and returns its name, or "".
	open     func() map[string]bool
	closeOne func() (name string)
}

// slowIndex is the object size from which the start of indexing is logged, because it takes
// seconds.
const slowIndex = 32 << 20

// table opens the index of an object, which it creates if necessary.
func (x *indexes) table(ctx context.Context, root *os.Root, b *bundle) (symbolFile, error) {
	name := filepath.Join(x.directory, indexName(b))
	table, err := openTable(name)
	if err == nil {
		now := time.Now()
		return table, os.Chtimes(name, now, now) // the time of the last use, for prune
	}
	if err := os.MkdirAll(x.directory, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the directory of indexes; set store::index_directory: %w", err)
	}
	if err := x.index(ctx, root, b, name); err != nil {
		return nil, err
	}
	x.prune(filepath.Base(name), 0)
	return openTable(name)
}

// has reports whether an object has an index.
func (x *indexes) has(b *bundle) bool {
	_, err := os.Stat(filepath.Join(x.directory, indexName(b)))
	return err == nil
}

// indexName returns a file name that depends on the object (path, time, size, offset in the file,
// ID) and the version of the table.
func indexName(b *bundle) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d\n%d\n%s\n%d", b.file.path, b.file.modified.UnixNano(), b.file.size, b.object.Offset, b.object.ID, native.Version))
	return hex.EncodeToString(sum[:16]) + indexSuffix
}

const indexSuffix = ".symtab"

// openTable opens an index. Its file is closed when the table is no longer referenced, because a
// lookup may still use a table that load has evicted.
func openTable(name string) (symbolFile, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	table, err := native.Open(file, info.Size())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return nativeTable{table, filepath.Base(name), info.Size()}, nil
}

// nativeTable is a table whose size includes its open file.
type nativeTable struct {
	*native.Table
	index     string // its file in the directory of indexes
	indexSize int64
}

// openFileBytes is the size that an open file counts as, so that store::max_open_bytes also limits
// the number of open files: to 1,024 by default.
const openFileBytes = 64 << 10

func (t nativeTable) Bytes() int64 { return t.Table.Bytes() + openFileBytes }

// index writes the index of an object.
func (x *indexes) index(ctx context.Context, root *os.Root, b *bundle, name string) error {
	content, err := root.Open(b.content())
	if err != nil {
		return err
	}
	defer content.Close()
	o, object := b.object, content
	if b.source != "" {
		binary, found, err := x.extract(ctx, content, o.ID)
		if err != nil {
			return err
		}
		if o = found; binary != nil {
			defer binary.remove()
			object = binary.File
		}
	}
	if o.Size > slowIndex {
		x.logger.Info("Indexing a symbol file", zap.String("file", b.file.path), zap.Int64("bytes", o.Size))
	}
	work := symbols.NewWork(ctx, o.Size, native.Limits, &indexMemory{})
	temporary, err := x.create("new", work)
	if err != nil {
		return err
	}
	summary, err := native.Index(work, temporary, object, o)
	if err != nil {
		return errors.Join(err, temporary.remove())
	}
	if err = temporary.Close(); err == nil {
		err = os.Rename(temporary.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	if summary.Incomplete != nil {
		x.logger.Warn("Some names of a symbol file cannot be read", zap.String("file", b.file.path), zap.Error(summary.Incomplete))
	}
	return nil
}

// extractLimits are those of extracting a binary from an archive that expands as far as it may.
var extractLimits = symbols.Limits{Steps: 64}

// extract returns an object of an upload of dSYMs, and its binary, nil for an upload that is not
// packed.
func (x *indexes) extract(ctx context.Context, upload *os.File, id string) (binary *indexFile, found native.Object, err error) {
	if o, ok := objectIn(upload, id); ok {
		return nil, o, nil
	}
	info, err := upload.Stat()
	if err != nil {
		return nil, found, err
	}
	work := symbols.NewWork(ctx, info.Size(), extractLimits, nil)
	if binary, err = x.create("dsym", work); err != nil {
		return nil, found, err
	}
	if err = debugid.ExtractDSYM(binary, work.Reader(upload), id); err == nil {
		var ok bool
		if found, ok = objectIn(binary.File, id); !ok {
			err = debugid.ErrNone
		}
	}
	if err != nil {
		return nil, found, errors.Join(err, binary.remove())
	}
	return binary, found, nil
}

func objectIn(file *os.File, id string) (o native.Object, found bool) {
	info, err := file.Stat()
	if err != nil {
		return o, false
	}
	objects, _ := native.Identify(file, info.Size())
	i := slices.IndexFunc(objects, func(o native.Object) bool { return o.ID == id })
	if i < 0 {
		return o, false
	}
	return objects[i], true
}

// prune removes the least recently used indexes, so that a number of bytes can be written, but not
// the one that is about to be used or written. This also removes the indexes of removed files,
// which are never used again. It closes open indexes last, because an open file needs its disk
// space also after it is removed. It returns the number of bytes that are left, less than 0 if
// there is no room.
func (x *indexes) prune(keep string, room int64) (left int64) {
	entries, err := os.ReadDir(x.directory)
	if err != nil {
		x.logger.Warn("Cannot read the directory of indexes", zap.Error(err))
		return -1
	}
	var known []fs.FileInfo
	open, sizes := x.open(), map[string]int64{}
	left = x.limit - room
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && filepath.Ext(entry.Name()) == indexSuffix {
			left -= info.Size()
			if name := entry.Name(); name != keep && !isTemporary(name) {
				sizes[name] = info.Size()
				if !open[name] {
					known = append(known, info)
				}
			}
		}
	}
	remove := func(name string) {
		if err := os.Remove(filepath.Join(x.directory, name)); err != nil {
			x.logger.Warn("Cannot remove an index", zap.Error(err))
			return
		}
		left += sizes[name]
	}
	slices.SortFunc(known, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, info := range known {
		if left >= 0 {
			return left
		}
		remove(info.Name())
	}
	for left < 0 {
		name := x.closeOne()
		if name == "" {
			break
		}
		remove(name)
	}
	return left
}
