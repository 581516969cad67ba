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
	x.prune(filepath.Base(name))
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
	return nativeTable{table}, nil
}

// nativeTable is a table whose size includes its open file.
type nativeTable struct{ *native.Table }

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
	defer func() { content.Close() }()
	o := b.object
	if b.source != "" {
		if content, o, err = x.extract(content, o.ID); err != nil {
			return err
		}
	}
	if o.Size > slowIndex {
		x.logger.Info("Indexing a symbol file", zap.String("file", b.file.path), zap.Int64("bytes", o.Size))
	}
	temporary, err := os.CreateTemp(x.directory, "new-*"+indexSuffix)
	if err != nil {
		return fmt.Errorf("cannot create an index; set store::index_directory: %w", err)
	}
	summary, err := native.Index(symbols.NewWork(ctx, o.Size, native.Limits, nil), temporary, content, o)
	if err = errors.Join(err, temporary.Close()); err == nil {
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

// extract returns the object of an upload of dSYMs, and its file: the upload, or a file without a
// name. Then it closes the upload.
func (x *indexes) extract(upload *os.File, id string) (binary *os.File, found native.Object, err error) {
	if o, ok := objectIn(upload, id); ok { // not packed
		return upload, o, nil
	}
	defer upload.Close()
	// If the process is killed, or on Windows, where an open file cannot be removed, prune removes
	// it later by its suffix.
	if binary, err = os.CreateTemp(x.directory, "dsym-*"+indexSuffix); err != nil {
		return upload, found, err
	}
	defer os.Remove(binary.Name())
	if err = debugid.ExtractDSYM(binary, upload, id); err != nil {
		return binary, found, err
	}
	found, ok := objectIn(binary, id)
	if !ok {
		err = debugid.ErrNone
	}
	return binary, found, err
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

// prune removes the least recently used indexes beyond the limit, except for the one that is about
// to be used. This also removes the indexes of removed files, which are never used again.
func (x *indexes) prune(keep string) {
	entries, err := os.ReadDir(x.directory)
	if err != nil {
		x.logger.Warn("Cannot read the directory of indexes", zap.Error(err))
		return
	}
	var known []fs.FileInfo
	total := int64(0)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && filepath.Ext(entry.Name()) == indexSuffix {
			known = append(known, info)
			total += info.Size()
		}
	}
	slices.SortFunc(known, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, info := range known {
		if total <= x.limit {
			return
		}
		if info.Name() == keep {
			continue
		}
		if err := os.Remove(filepath.Join(x.directory, info.Name())); err != nil {
			x.logger.Warn("Cannot remove an index", zap.Error(err))
			continue
		}
		total -= info.Size()
	}
}
