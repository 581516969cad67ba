// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/debugid"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// indexes manages the tables of native files on disk. Each object is indexed only once, because
// reading DWARF takes seconds. Other processors and collectors may use the directory, too: their
// indexes count as those of one more tenant. One goroutine uses the indexes.
type indexes struct {
	directory string
	limit     int64
	logger    *zap.Logger
	files     *sharedFiles[string, indexSize] // by name
	temporary map[string]*indexFile           // that this processor writes, by name

	open func() []indexUse // of open indexes, the least recent first
}

// indexSize is the size of an index on disk.
type indexSize int64

// Bytes implements sized.
func (s indexSize) Bytes() int64 { return int64(s) }

// indexUse is the last use of an index by a tenant.
type indexUse struct {
	name   string
	tenant tenant.Tenant
	at     time.Time
}

// newIndexes returns the indexes in a directory. closeIndex closes an index, so that its disk space
// becomes free when it is removed.
func newIndexes(directory string, limit int64, logger *zap.Logger, open func() []indexUse, closeIndex func(name string)) *indexes {
	x := &indexes{directory: directory, limit: limit, logger: logger, temporary: map[string]*indexFile{}, open: open}
	x.files = newSharedFiles(limit, func(name string, _ indexSize) {
		closeIndex(name)
		if err := os.Remove(filepath.Join(directory, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			logger.Warn("Cannot remove an index", zap.Error(err))
		}
	})
	return x
}

// slowIndex is the object size from which the start of indexing is logged, because it takes
// seconds.
const slowIndex = 32 << 20

// table opens the index of an object for a tenant. It creates the index if necessary.
func (x *indexes) table(ctx context.Context, root *os.Root, w wanted) (symbolFile, error) {
	name := filepath.Join(x.directory, indexName(w.bundle))
	table, err := openTable(name)
	if err == nil {
		now := time.Now()
		x.used(w.tenant, table, now)
		return table, os.Chtimes(name, now, now) // the time of the last use, for a restart
	}
	if err := os.MkdirAll(x.directory, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the directory of indexes; set store::index_directory: %w", err)
	}
	if err := x.index(ctx, root, w, name); err != nil {
		return nil, err
	}
	if table, err = openTable(name); err != nil {
		return nil, err
	}
	x.used(w.tenant, table, time.Now())
	return table, nil
}

// used makes a tenant's use of an index the most recent one.
func (x *indexes) used(t tenant.Tenant, table nativeTable, now time.Time) {
	known := x.files.byKey[table.index]
	if known != nil && known.bytes != table.indexSize {
		x.files.forget(known)
		known = nil
	}
	if known == nil {
		x.files.add(t, table.index, indexSize(table.indexSize), now)
		return
	}
	x.files.use(t, known, now)
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

// openTable opens an index.
func openTable(name string) (t nativeTable, err error) {
	file, err := os.Open(name)
	if err != nil {
		return t, err
	}
	info, err := file.Stat()
	if err != nil {
		return t, errors.Join(err, file.Close())
	}
	table, err := native.Open(file, info.Size())
	if err != nil {
		return t, errors.Join(err, file.Close())
	}
	return nativeTable{table, file, filepath.Base(name), info.Size()}, nil
}

// nativeTable is a table whose size includes its open file. After Close, which may be during a
// lookup, lookups return symbols.Pending.
type nativeTable struct {
	*native.Table
	io.Closer
	index     string // its file in the directory of indexes
	indexSize int64
}

// openFileBytes is the size that an open file counts as, so that store::max_open_bytes also limits
// the number of open files: to 1,024 by default.
const openFileBytes = 64 << 10

func (t nativeTable) Bytes() int64 { return t.Table.Bytes() + openFileBytes }

// index writes the index of an object.
func (x *indexes) index(ctx context.Context, root *os.Root, w wanted, name string) error {
	b := w.bundle
	content, err := root.Open(b.content())
	if err != nil {
		return err
	}
	defer content.Close()
	o, object := b.object, content
	if b.source != "" {
		binary, found, err := x.extract(ctx, w.tenant, content, o.ID)
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
	temporary, err := x.create("new", w.tenant, work)
	if err != nil {
		return err
	}
	summary, err := native.Index(work, temporary, object, o)
	if err != nil {
		return errors.Join(err, temporary.remove())
	}
	if err := temporary.publish(name); err != nil {
		return err
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
func (x *indexes) extract(ctx context.Context, t tenant.Tenant, upload *os.File, id string) (binary *indexFile, found native.Object, err error) {
	if o, ok := objectIn(upload, id); ok {
		return nil, o, nil
	}
	info, err := upload.Stat()
	if err != nil {
		return nil, found, err
	}
	work := symbols.NewWork(ctx, info.Size(), extractLimits, nil)
	if binary, err = x.create("dsym", t, work); err != nil {
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

// makeRoom removes indexes, so that a tenant can write a number of bytes to a temporary file.
func (x *indexes) makeRoom(t tenant.Tenant, to *indexFile, bytes int64) error {
	foreign, err := x.list()
	if err != nil {
		return fmt.Errorf("cannot read the directory of indexes: %w", err)
	}
	for _, file := range x.temporary {
		bytes += file.size
		if file != to {
			bytes += file.reserved
		}
	}
	x.files.limit = x.limit - foreign
	switch {
	case bytes > x.limit:
		return errIndexBytes
	case !x.files.makeRoom(t, bytes, time.Now()):
		return errIndexShare
	}
	return nil
}

// list updates files by the directory: indexes of an earlier process or of others, and those that
// others have removed. foreign is the size of the temporary files of others.
func (x *indexes) list() (foreign int64, err error) {
	entries, err := os.ReadDir(x.directory)
	if err != nil {
		return 0, err
	}
	present := map[string]bool{}
	var added []fs.FileInfo
	for _, entry := range entries {
		name := entry.Name()
		info, err := entry.Info()
		switch {
		case err != nil || filepath.Ext(name) != indexSuffix:
		case !isTemporary(name):
			known := x.files.byKey[name]
			if present[name] = known != nil && known.bytes == info.Size(); !present[name] {
				added = append(added, info)
			}
		case x.temporary[name] == nil:
			foreign += info.Size()
		}
	}
	for name, known := range x.files.byKey {
		if !present[name] {
			x.files.forget(known)
		}
	}
	slices.SortFunc(added, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range added {
		x.files.add(tenant.Tenant{}, info.Name(), indexSize(info.Size()), info.ModTime())
	}
	for _, u := range x.open() {
		if known := x.files.byKey[u.name]; known != nil && (known.uses[u.tenant] == nil || known.uses[u.tenant].Value.at.Before(u.at)) {
			x.files.use(u.tenant, known, u.at)
		}
	}
	return foreign, nil
}
