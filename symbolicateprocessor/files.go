// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
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
	queue   chan *bundle            // to open
	changed chan struct{}           // asks for a scan
	uploads *endpoint               // nil: off
	remote  *remote                 // nil: off
	stop    context.CancelFunc
	worker  sync.WaitGroup

	scanning sync.Mutex

	mu      sync.Mutex
	waiting map[*bundle]bool          // in the queue
	failed  map[*bundle]time.Time     // could not be opened → time of the next attempt
	open    map[*bundle]*list.Element // elements of recent
	recent  list.List                 // openFile values, the most recently used first
	bytes   int64                     // memory of the files in recent
}

type openFile struct {
	bundle *bundle
	file   symbolFile
	bytes  int64
}

// symbolFile is a *sourcemap.File, a *proguard.Mapping or a nativeTable.
type symbolFile interface{ Bytes() int64 }

const (
	// maxQueue is the maximum number of files waiting to be opened. A web page has about ten
	// bundles.
	maxQueue = 256

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
		config: cfg, cfg: &cfg.Store, settings: set, changed: make(chan struct{}, 1), telemetry: telemetry, logger: collector.LimitLogs(set.Logger), queue: make(chan *bundle, maxQueue),
		waiting: map[*bundle]bool{}, failed: map[*bundle]time.Time{}, open: map[*bundle]*list.Element{}, stop: func() {},
	}, nil
}

// Start starts the worker.
func (f *files) Start(ctx context.Context, host component.Host) (err error) {
	if f.root, err = os.OpenRoot(f.cfg.Directory); err != nil {
		return fmt.Errorf("store::directory: cannot be opened; create it: %w", err)
	}
	f.bad = openBadFiles(f.cfg.indexes(), f.logger)
	f.scanner = &scanner{root: f.root, cfg: f.cfg, logger: f.logger, bad: f.bad}
	f.indexes = &indexes{directory: f.cfg.indexes(), limit: f.cfg.MaxIndexBytes, logger: f.logger}
	f.indexes.clean()
	if f.config.Uploads.Endpoint != "" {
		if f.uploads, err = startEndpoint(ctx, f.config, host, f.settings, f.telemetry, f.scanSoon); err != nil {
			return err
		}
	}
	if f.config.Downloads.enabled() {
		if f.remote, err = startRemote(f.config, f.telemetry, f.logger, f.scan); err != nil {
			return err
		}
	}
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
func (f *files) scanSoon() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// Script implements symbolicate.Files.
func (f *files) Script(id symbolicate.ScriptID) (*sourcemap.File, symbols.Status) {
	file, status := f.lookup(func(c *catalog) (*bundle, bool) {
		b := c.find(id)
		return b, f.remote.script(id, b)
	})
	script, _ := file.(*sourcemap.File)
	return script, status
}

// Mapping implements symbolicate.Files.
func (f *files) Mapping(id string) (*proguard.Mapping, symbols.Status) {
	file, status := f.lookup(func(c *catalog) (*bundle, bool) { return c.mapping(id), false })
	mapping, _ := file.(*proguard.Mapping)
	return mapping, status
}

// Native implements symbolicate.Files.
func (f *files) Native(id symbolicate.NativeID) (*native.Table, symbols.Status) {
	file, status := f.lookup(func(c *catalog) (*bundle, bool) {
		b := c.object(id)
		return b, f.remote.object(id, b)
	})
	table, _ := file.(nativeTable)
	return table.Table, status
}

// lookup returns the opened file of a bundle, or queues it. find also reports whether the file is
// being downloaded.
func (f *files) lookup(find func(*catalog) (*bundle, bool)) (symbolFile, symbols.Status) {
	c := f.catalog.Load()
	if c == nil {
		return nil, symbols.Pending
	}
	b, coming := find(c)
	switch {
	case b == nil && coming:
		return nil, symbols.Pending
	case b == nil:
		return nil, symbols.MissingFile
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if element := f.open[b]; element != nil {
		f.recent.MoveToFront(element)
		return element.Value.(*openFile).file, symbols.OK
	}
	if time.Now().Before(f.failed[b]) {
		return nil, symbols.Error
	}
	if !f.waiting[b] {
		select {
		case f.queue <- b:
			f.waiting[b] = true
		default: // a later message asks again
		}
	}
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
		case b := <-f.queue:
			f.load(ctx, b)
		}
	}
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
	f.mu.Lock()
	defer f.mu.Unlock()
	for b := range f.failed {
		if !next.has(b) {
			delete(f.failed, b)
		}
	}
	for b, element := range f.open {
		if !next.has(b) {
			f.close(ctx, element)
		}
	}
}

// load opens a file, and closes other files to stay within the limit.
func (f *files) load(ctx context.Context, b *bundle) {
	start := time.Now()
	size := f.makeRoom(ctx, b)
	file, err := f.attempt(ctx, b)
	took := time.Since(start)
	collect(size)
	f.telemetry.openTime.Record(ctx, took.Seconds())
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waiting, b)
	if err == nil && file.Bytes() > f.cfg.MaxOpenBytes {
		err = fmt.Errorf("needs %d bytes of memory, more than store::max_open_bytes", file.Bytes())
	}
	if ctx.Err() != nil {
		return // the collector stops
	}
	if err != nil {
		f.failed[b] = time.Now().Add(retryAfter)
		f.telemetry.countFile(ctx, "failed")
		f.logger.Warn("Cannot open a symbol file", zap.String("file", b.file.path), zap.Error(err))
		return
	}
	delete(f.failed, b)
	f.telemetry.countFile(ctx, "opened")
	if took > slowOpen {
		f.logger.Info("Opened a symbol file", zap.String("file", b.file.path), zap.Duration("took", took), zap.Int64("bytes", file.Bytes()))
	}
	opened := &openFile{bundle: b, file: file, bytes: file.Bytes()}
	f.open[b] = f.recent.PushFront(opened)
	f.bytes += opened.bytes
	f.telemetry.openBytes.Add(ctx, opened.bytes)
	for f.bytes > f.cfg.MaxOpenBytes {
		f.close(ctx, f.recent.Back())
	}
}

// makeRoom closes files before a file is read, for which the memory is needed, and returns the size
// of the file.
func (f *files) makeRoom(ctx context.Context, b *bundle) (size int64) {
	size = f.sizeOf(b.content())
	expected := size / 4 // a mapping
	switch b.kind {
	case script:
		expected = size / 2
	case object:
		expected = openFileBytes
		if !f.indexes.has(b) {
			expected = size / 2
		}
	}
	f.mu.Lock()
	for f.bytes > 0 && f.bytes > f.cfg.MaxOpenBytes-expected {
		f.close(ctx, f.recent.Back())
	}
	f.mu.Unlock()
	collect(size)
	return size
}

// largeFile is the size from which garbage is collected around the reading of a file, which creates
// as much garbage as the size of the file. The system would get its memory back minutes later.
const largeFile = 16 << 20

func collect(size int64) {
	if size > largeFile {
		debug.FreeOSMemory()
	}
}

func (f *files) close(ctx context.Context, element *list.Element) {
	o := f.recent.Remove(element).(*openFile)
	delete(f.open, o.bundle)
	f.bytes -= o.bytes
	f.telemetry.openBytes.Add(ctx, -o.bytes)
}

func (f *files) read(ctx context.Context, b *bundle) (symbolFile, error) {
	switch b.kind {
	case object:
		return f.indexes.table(ctx, f.root, b)
	case mapping:
		content, size, err := f.openFile(b.content())
		if err != nil {
			return nil, err
		}
		defer content.Close()
		return proguard.Read(symbols.NewWork(ctx, size, proguard.Limits, &openMemory{files: f, ctx: ctx}), io.LimitReader(content, size))
	}
	var m *sourcemap.Map
	work := symbols.NewWork(ctx, f.sizeOf(b.source)+f.sizeOf(b.file.path), sourcemap.Limits, &openMemory{files: f, ctx: ctx})
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
