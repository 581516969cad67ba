// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/broadcast"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/proguard"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/sourcemap"
)

// files provides the symbol files of a directory. Lookups use only files that are in memory; a
// worker scans the directory and opens files.
type files struct {
	config    *Config
	cfg       *StoreConfig // part of config
	settings  component.TelemetrySettings
	telemetry *telemetry
	logger    *zap.Logger

	root    *os.Root
	scanner *scanner
	indexes *indexes
	bad     *badFiles
	catalog atomic.Pointer[catalog] // nil before the first scan
	changed chan struct{}           // asks for a scan
	asked   chan struct{}           // the queue is not empty
	opened  broadcast.Change        // files that were pending are open, or cannot be opened
	uploads *endpoint               // nil: off
	remote  *remote                 // nil: off
	stop    context.CancelFunc
	worker  sync.WaitGroup

	scanning sync.Mutex

	mu      sync.Mutex
	queue   *openQueue            // to open
	failed  map[*bundle]time.Time // could not be opened → time of the next attempt
	crowded map[wanted]time.Time  // did not fit into the share of the tenant → time of the next attempt
	open    *openFiles
}

// tenantFiles are the symbol files for the messages of a tenant.
type tenantFiles struct {
	*files
	tenant  tenant.Tenant
	pending map[any]bool // IDs that were asked for, and are not known yet
}

var _ symbolicate.Files = tenantFiles{}

// of returns the files for the messages of a tenant: its own, and those that the operator provides
// for all.
func (f *files) of(t tenant.Tenant) tenantFiles { return tenantFiles{f, t, map[any]bool{}} }

// symbolFile is a *sourcemap.File, a *proguard.Mapping or a nativeTable.
type symbolFile interface{ Bytes() int64 }

const (
	// retryAfter is the time after which a file that could not be opened is tried again: it may
	// have been incomplete.
	retryAfter = 5 * time.Minute

	// slowOpen is the time from which opening a file is logged, because frames stay unchanged until
	// it is open.
	slowOpen = time.Second
)

func newFiles(cfg *Config, set component.TelemetrySettings) (*files, error) {
	telemetry, err := newTelemetry(set)
	if err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	return &files{
		config: cfg, cfg: &cfg.Store, settings: set, telemetry: telemetry, logger: collector.LimitLogs(set.Logger),
		changed: make(chan struct{}, 1), asked: make(chan struct{}, 1), stop: func() {},
		queue: newOpenQueue(), failed: map[*bundle]time.Time{}, crowded: map[wanted]time.Time{},
		open: newSharedFiles(cfg.Store.MaxOpenBytes, func(_ *bundle, file symbolFile) {
			telemetry.openBytes.Add(context.Background(), -file.Bytes())
			closeFile(file)
		}),
	}, nil
}

// Start starts the worker.
func (f *files) Start(ctx context.Context, host component.Host) (err error) {
	if f.root, err = os.OpenRoot(f.cfg.Directory); err != nil {
		return fmt.Errorf("store::directory: cannot be opened; create it: %w", err)
	}
	f.bad = openBadFiles(f.cfg.indexes(), f.logger)
	f.scanner = &scanner{root: f.root, cfg: f.cfg, logger: f.logger, bad: f.bad}
	f.indexes = newIndexes(f.cfg.indexes(), f.cfg.MaxIndexBytes, f.logger, f.openIndexes, f.closeIndex)
	f.indexes.clean()
	if f.config.Uploads.Endpoint != "" {
		if f.uploads, err = startEndpoint(ctx, f.config, host, f.settings, f.telemetry, f.scanSoon); err != nil {
			return err
		}
	}
	if f.config.Downloads.enabled() {
		if f.remote, err = startRemote(f.config, f.telemetry, f.logger, f.scan, f.opened.Notify); err != nil {
			return err
		}
	}
	f.logger.Info("Reading symbol files", zap.String("directory", f.cfg.Directory), zap.Int("servers", len(f.config.Downloads.SourceMapHosts)+len(f.config.Downloads.DebuginfodURLs)),
		zap.String("hold", f.config.Hold.Timeout.String()))
	working, stop := context.WithCancel(context.Background())
	f.stop = stop
	f.worker.Go(func() { f.work(working) })
	return nil
}

// Shutdown stops the worker first: the messages of other pipelines wait until it has ended. Lookups
// still find opened files.
func (f *files) Shutdown(ctx context.Context) (err error) {
	f.stop()
	f.worker.Wait()
	if f.uploads != nil {
		err = f.uploads.stop(ctx)
	}
	if f.remote != nil {
		err = errors.Join(err, f.remote.stop())
	}
	if f.bad != nil {
		f.bad.close()
	}
	if f.root != nil {
		err = errors.Join(err, f.root.Close())
	}
	return err
}

// scanSoon makes the worker search the directory.
func (f *files) scanSoon() { signal(f.changed) }

// signal wakes the receiver of a channel with a buffer, unless it is about to wake up.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Script implements symbolicate.Files.
func (f tenantFiles) Script(id symbolicate.ScriptID) (*sourcemap.File, symbols.Status) {
	return fileOf[*sourcemap.File](f, id)
}

// Mapping implements symbolicate.Files.
func (f tenantFiles) Mapping(id string) (*proguard.Mapping, symbols.Status) {
	return fileOf[*proguard.Mapping](f, id)
}

// Native implements symbolicate.Files.
func (f tenantFiles) Native(id symbolicate.NativeID) (*native.Table, symbols.Status) {
	table, status := fileOf[nativeTable](f, id)
	return table.Table, status
}

// fileOf looks up an ID, and adds it to the pending ones if necessary.
func fileOf[F symbolFile](f tenantFiles, id any) (file F, status symbols.Status) {
	found, status := f.lookup(id)
	if status == symbols.Pending {
		f.pending[id] = true
	}
	file, _ = found.(F)
	return file, status
}

// bundle returns the bundle with an ID, and reports whether a file with it is being downloaded.
func (f tenantFiles) bundle(c *catalog, id any) (b *bundle, coming bool) {
	switch id := id.(type) {
	case symbolicate.ScriptID:
		b = c.find(id)
		return b, f.remote.script(f.tenant, id, b)
	case symbolicate.NativeID:
		b = c.object(f.tenant, id)
		return b, f.remote.object(f.tenant, id, b)
	}
	return c.mapping(f.tenant, id.(string)), false
}

// lookup returns the opened file with an ID, or queues it.
func (f tenantFiles) lookup(id any) (symbolFile, symbols.Status) {
	c := f.catalog.Load()
	if c == nil {
		return nil, symbols.Pending
	}
	b, coming := f.bundle(c, id)
	switch {
	case b == nil && coming:
		return nil, symbols.Pending
	case b == nil:
		return nil, symbols.MissingFile
	}
	now, w := time.Now(), wanted{f.tenant, b}
	f.mu.Lock()
	defer f.mu.Unlock()
	if file := f.open.get(f.tenant, b, now); file != nil {
		return file, symbols.OK
	}
	if now.Before(f.failed[b]) || now.Before(f.crowded[w]) {
		return nil, symbols.Error
	}
	f.queue.push(w)
	signal(f.asked)
	return nil, symbols.Pending
}

func (f *files) work(ctx context.Context) {
	f.scan(ctx)
	ticker := time.NewTicker(f.cfg.ScanInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f.scan(ctx)
		case <-f.changed:
			f.scan(ctx)
		case <-f.asked:
			f.loadNext(ctx)
		}
	}
}

// loadNext opens the next file of the queue.
func (f *files) loadNext(ctx context.Context) {
	f.mu.Lock()
	w, ok := f.queue.next()
	f.mu.Unlock()
	if !ok {
		return
	}
	signal(f.asked) // for the next one, after a scan that is due
	work := f.load(ctx, w)
	defer f.opened.Notify()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue.worked(w.tenant, work)
}

// scan searches the directory, after the scan that another goroutine may be doing.
func (f *files) scan(ctx context.Context) {
	f.scanning.Lock()
	defer f.scanning.Unlock()
	before := f.catalog.Load()
	if before == nil {
		before = &catalog{}
	}
	next, err := f.scanner.scan(ctx, before)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		f.logger.Warn("Cannot read the directory of symbol files", zap.Error(err))
		return
	}
	if next.full && !before.full {
		f.logger.Warn("The directory of symbol files has more files than store::max_files; the others are not used", zap.Int("max_files", f.cfg.MaxFiles))
	}
	f.telemetry.known.Add(ctx, int64(next.known-before.known))
	f.catalog.Store(next)
	defer f.opened.Notify()
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.failed, func(b *bundle, _ time.Time) bool { return !next.has(b) })
	maps.DeleteFunc(f.crowded, func(w wanted, _ time.Time) bool { return !next.has(w.bundle) })
	f.open.keep(func(b *bundle, _ symbolFile) bool { return next.has(b) })
}

// load opens a file for a tenant, and closes other files to stay within the limit. It returns the
// work that this takes: about the number of bytes to read.
func (f *files) load(ctx context.Context, w wanted) (work int64) {
	start, b := time.Now(), w.bundle
	f.mu.Lock()
	known := f.open.get(w.tenant, b, start) != nil || start.Before(f.failed[b]) // since another tenant asked for it
	f.mu.Unlock()
	if known {
		return 0
	}
	size, expected := f.expect(b)
	f.mu.Lock()
	f.open.makeRoom(w.tenant, min(expected, f.cfg.MaxOpenBytes), start) // the estimate may be too high
	f.mu.Unlock()
	collect(size)
	file, err := f.attempt(ctx, w)
	took := time.Since(start)
	collect(size)
	f.telemetry.openTime.Record(ctx, took.Seconds())
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(err, errIndexShare) {
		f.tooCrowded(ctx, w, "Cannot index a symbol file, because indexes of other tenants use the disk; increase store::max_index_bytes")
		return expected
	}
	if err == nil && file.Bytes() > f.cfg.MaxOpenBytes {
		closeFile(file)
		err = fmt.Errorf("needs %d bytes of memory, more than store::max_open_bytes", file.Bytes())
	}
	if ctx.Err() != nil {
		return 0 // the collector stops
	}
	if err != nil {
		f.failed[b] = time.Now().Add(retryAfter)
		f.telemetry.countFile(ctx, "failed")
		f.logger.Warn("Cannot open a symbol file", zap.String("file", b.file.path), zap.Error(err))
		return expected
	}
	delete(f.failed, b)
	if !f.open.makeRoom(w.tenant, file.Bytes(), time.Now()) {
		closeFile(file)
		f.tooCrowded(ctx, w, "Cannot open a symbol file, because files of other tenants use the memory; increase store::max_open_bytes")
		return expected
	}
	f.telemetry.countFile(ctx, "opened")
	if took > slowOpen {
		f.logger.Info("Opened a symbol file", zap.String("file", b.file.path), zap.Duration("took", took), zap.Int64("bytes", file.Bytes()))
	}
	f.telemetry.openBytes.Add(ctx, file.Bytes())
	f.open.add(w.tenant, b, file, time.Now())
	return expected
}

// maxCrowded limits the memory for the files that do not fit.
const maxCrowded = 4096

// tooCrowded remembers that a file does not fit into the share of a tenant while other tenants use
// theirs.
func (f *files) tooCrowded(ctx context.Context, w wanted, why string) {
	if len(f.crowded) >= maxCrowded {
		clear(f.crowded)
	}
	f.crowded[w] = time.Now().Add(retryAfter)
	f.telemetry.countFile(ctx, "failed")
	f.logger.Warn(why, zap.String("file", w.bundle.file.path))
}

// openIndexes returns the last uses of open indexes, the least recent first.
func (f *files) openIndexes() (uses []indexUse) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for e := f.open.uses.Oldest(); e != nil; e = e.Newer() {
		if table, ok := e.Value.file.file.(nativeTable); ok {
			uses = append(uses, indexUse{table.index, e.Tenant(), e.Value.at})
		}
	}
	return uses
}

// closeIndex closes an index if it is open.
func (f *files) closeIndex(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open.keep(func(_ *bundle, file symbolFile) bool {
		table, ok := file.(nativeTable)
		return !ok || table.index != name
	})
}

// closeFile closes the file that a symbol file reads during lookups.
func closeFile(file symbolFile) {
	if c, ok := file.(io.Closer); ok {
		_ = c.Close()
	}
}

// expect returns the size of a bundle's largest file, and the memory that the open file will need.
func (f *files) expect(b *bundle) (size, memory int64) {
	size = f.sizeOf(b.content())
	switch {
	case b.kind == script:
		return size, size / 2
	case b.kind == object && f.indexes.has(b):
		return size, openFileBytes
	case b.kind == object:
		return size, max(size/2, openFileBytes)
	}
	return size, size / 4 // a mapping
}

// largeFile is the size from which garbage is collected around the reading of a file, which creates
// as much garbage as the size of the file. The system would get its memory back minutes later.
const largeFile = 16 << 20

func collect(size int64) {
	if size > largeFile {
		debug.FreeOSMemory()
	}
}

func (f *files) read(ctx context.Context, w wanted) (symbolFile, error) {
	b, memory := w.bundle, &openMemory{files: f, tenant: w.tenant}
	switch b.kind {
	case object:
		return f.indexes.table(ctx, f.root, w)
	case mapping:
		content, size, err := f.openFile(b.content())
		if err != nil {
			return nil, err
		}
		defer content.Close()
		return proguard.Read(symbols.NewWork(ctx, size, proguard.Limits, memory), io.LimitReader(content, size))
	}
	var m *sourcemap.Map
	work := symbols.NewWork(ctx, f.sizeOf(b.source)+f.sizeOf(b.file.path), sourcemap.Limits, memory)
	if err := f.useText(b.source, func(text []byte) (err error) {
		m, err = sourcemap.Read(work, text)
		collect(int64(len(text)))
		return err
	}); err != nil {
		return nil, err
	}
	var script *sourcemap.File
	err := f.useText(b.file.path, func(text []byte) (err error) {
		script, err = sourcemap.NewFile(work, m, unsafe.String(unsafe.SliceData(text), len(text))) // copies the names
		return err
	})
	return script, err
}

// sizeOf returns the size of a file, or 0.
func (f *files) sizeOf(name string) int64 {
	info, err := f.root.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// openFile opens a file within the limit.
func (f *files) openFile(name string) (*os.File, int64, error) {
	file, err := f.root.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() > f.cfg.MaxFileBytes {
		err = fmt.Errorf("%s has %d bytes, more than the limit of store::max_file_bytes, %d", name, info.Size(), f.cfg.MaxFileBytes)
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// useText reads a file. The text is only valid during the call of use, so that it does not need
// memory of the heap.
func (f *files) useText(name string, use func(text []byte) error) error {
	file, size, err := f.openFile(name)
	if err != nil {
		return err
	}
	defer file.Close()
	text, release := symbols.Reserve[byte](size)
	defer release()
	text = slices.Grow(text, int(size))[:size]
	n, err := io.ReadFull(file, text)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) { // the file may shrink meanwhile
		return err
	}
	return use(text[:n])
}
