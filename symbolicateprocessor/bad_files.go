// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/debugid"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// badFiles remembers files that cannot be read, or that ended the process while they were read, in
// the folder bad of the directory of indexes:
//
//	reading-*    the key and path of the file that is being read, empty if there is none
//	<key>        a bad file: its path and the reason
//
// A file that was being read when the process ended without a shutdown is bad after the restart. A
// file has another key when its content changes.
type badFiles struct {
	directory string
	logger    *zap.Logger

	mu      sync.Mutex
	known   map[string]bool // by key
	order   []string        // keys of known that were written, the oldest first
	markers []*os.File      // that are not in use
}

const (
	badFolder     = "bad"
	readingPrefix = "reading-"

	// badVersion is a part of the keys. A new version gives all bad files another try.
	badVersion = 1

	// maxBad bounds the number of bad files; at the limit, the oldest are forgotten. Apps of the
	// measure receiver can upload any number.
	maxBad = 10_000

	// maxMarker bounds the content of a marker: a key and a path.
	maxMarker = 8 << 10
)

var errBad = errors.New("an earlier attempt to read the file failed or ended the collector; replace the file, or delete its entry in the folder bad of store::index_directory and restart the collector")

// openBadFiles reads the bad files. If the directory cannot be used, the files of this run only are
// remembered.
func openBadFiles(indexes string, logger *zap.Logger) *badFiles {
	b := &badFiles{directory: filepath.Join(indexes, badFolder), logger: logger, known: map[string]bool{}}
	entries, _ := os.ReadDir(b.directory) // there is none before the first bad file
	var all []os.FileInfo
	var markers []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), readingPrefix) {
			markers = append(markers, e.Name())
		} else if info, err := e.Info(); err == nil {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(x, y os.FileInfo) int { return cmp.Compare(x.ModTime().UnixNano(), y.ModTime().UnixNano()) })
	for _, info := range all {
		b.add(info.Name())
	}
	for _, marker := range markers {
		b.unfinished(marker)
	}
	return b
}

// add remembers a bad file, and forgets the oldest at the limit.
func (b *badFiles) add(key string) {
	if b.known[key] {
		return
	}
	b.known[key] = true
	b.order = append(b.order, key)
	if len(b.order) > maxBad {
		_ = os.Remove(filepath.Join(b.directory, b.order[0]))
		delete(b.known, b.order[0])
		b.order = b.order[1:]
	}
}

// unfinished makes the file of a marker bad, and removes the marker, unless another processor or
// collector that uses the directory is reading the file.
func (b *badFiles) unfinished(marker string) {
	name := filepath.Join(b.directory, marker)
	file, err := os.Open(name)
	if err != nil {
		return
	}
	defer file.Close()
	if !lockFile(file) {
		return
	}
	defer os.Remove(name)
	content, err := io.ReadAll(io.LimitReader(file, maxMarker+1))
	if err != nil || len(content) == 0 || len(content) > maxMarker {
		return
	}
	key, path, ok := strings.Cut(string(content), "\n")
	if _, err := hex.DecodeString(key); err != nil || !ok || len(key) != keyDigits {
		return
	}
	b.logger.Error("The collector ended while it was reading a symbol file; the file is no longer used", zap.String("file", path))
	b.write(key, path, "the collector ended while it was reading this file")
}

// keyDigits is the length of a key.
const keyDigits = 32

// fileKey returns the key of the parts of a file's identity.
func fileKey(parts ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%q", badVersion, fmt.Sprintln(parts...)))
	return hex.EncodeToString(sum[:keyDigits/2])
}

// try reads a file, unless it is bad. If the process ends meanwhile, the file is bad; if the error
// is the fault of the file, too.
func (b *badFiles) try(key, path string, read func() error) error {
	b.mu.Lock()
	bad := b.known[key]
	b.mu.Unlock()
	if bad {
		return errBad
	}
	done := b.mark(key, path)
	err := read()
	if isBad(err) {
		b.write(key, path, err.Error())
	}
	done()
	return err
}

// isBad reports whether another attempt to read a file would fail, too. It would not after a
// shutdown, or an error of the disk.
func isBad(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false
	}
	for _, target := range []error{symbols.ErrSteps, symbols.ErrMemory, native.ErrTooLarge, native.ErrDamaged, native.ErrEmpty, debugid.ErrTooLarge, errIndexBytes} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

func (b *badFiles) write(key, path, why string) {
	b.mu.Lock()
	b.add(key)
	b.mu.Unlock()
	if err := os.WriteFile(filepath.Join(b.directory, key), []byte(path+"\n"+why+"\n"), 0o600); err != nil {
		b.logger.Warn("Cannot remember a bad symbol file", zap.String("file", path), zap.Error(err))
	}
}

// mark notes that a file is being read. The content of a file outlives the process, unless the
// system ends, too.
func (b *badFiles) mark(key, path string) (done func()) {
	marker, err := b.marker()
	if err == nil {
		content := key + "\n" + path[:min(len(path), maxMarker/2)]
		_, err = marker.WriteAt([]byte(content), 0)
	}
	if err != nil {
		b.logger.Warn("Cannot record which symbol file is being read; set store::index_directory to a writable directory", zap.Error(err))
	}
	if marker == nil {
		return func() {}
	}
	return func() {
		_ = marker.Truncate(0)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.markers = append(b.markers, marker)
	}
}

func (b *badFiles) marker() (*os.File, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.markers); n > 0 {
		marker := b.markers[n-1]
		b.markers = b.markers[:n-1]
		return marker, nil
	}
	if err := os.MkdirAll(b.directory, 0o700); err != nil {
		return nil, err
	}
	marker, err := os.CreateTemp(b.directory, readingPrefix+"*")
	if err == nil {
		lockFile(marker) // until it is closed, or the process ends
	}
	return marker, err
}

// close removes the markers. No file is being read.
func (b *badFiles) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, marker := range b.markers {
		_ = marker.Close()
		_ = os.Remove(marker.Name())
	}
	b.markers = nil
}

// attempt reads the file of a bundle, unless it is bad.
func (f *files) attempt(ctx context.Context, w wanted) (file symbolFile, err error) {
	b := w.bundle
	content := ""
	if info, err := f.root.Stat(b.content()); err == nil {
		content = fmt.Sprintln(info.ModTime().UnixNano(), info.Size())
	}
	key := fileKey(b.file.path, b.file.modified.UnixNano(), b.file.size, b.source, content, b.object.ID, b.object.Offset, f.cfg.MaxIndexBytes)
	err = f.bad.try(key, b.content(), func() (err error) {
		file, err = f.read(ctx, w)
		return err
	})
	return file, err
}

// identify reads a new file of the directory, unless reading it ended the process before.
func (s *scanner) identify(f *file, read func()) {
	if s.bad == nil {
		read()
		return
	}
	_ = s.bad.try(fileKey(f.path, f.modified.UnixNano(), f.size), f.path, func() error {
		read()
		return nil
	})
}
