// SPDX-License-Identifier: Apache-2.0

// Package filestore stores files from clients in a directory of limited size.
package filestore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Store stores files in a directory. os.Root prevents access outside the directory, whatever the
// names are. If the store exceeds its maximum size, the app with the most bytes loses its oldest
// files. The first folder of a name belongs to the app.
type Store struct {
	Directory string
	Root      *os.Root // for reading
	most      int64
	least     int64 // bytes that a file counts as

	mu    sync.Mutex
	total int64            // bytes on disk, see SizeOnDisk
	parts map[string]int64 // incomplete files, with the bytes that they have in total
}

// File describes a stored file.
type File struct {
	Path   string // including the directory of the store
	Size   int64
	SHA256 string
	Head   []byte // the first bytes
}

// BlockSize is the usual block size of file systems, and about the size of the metadata of a file.
// Every file counts as at least one block; otherwise, a client with the key of an app could exhaust
// the inodes with a hundred million tiny files.
const BlockSize = 4096

// SizeOnDisk returns the size that a file of size bytes counts as.
func SizeOnDisk(size int64) int64 { return (size + BlockSize - 1) / BlockSize * BlockSize }

const (
	headSize = 512 // the bytes that http.DetectContentType uses
	// PartPrefix starts the names of files that are not complete.
	PartPrefix   = ".part-"
	sweptPercent = 90 // of the maximum size, after a sweep
)

var (
	ErrTooLarge = errors.New("the file is too large")
	ErrEmpty    = errors.New("the file is empty")
	ErrFull     = errors.New("the store is full of incomplete files")
)

// Open opens the store in a directory, which it creates if necessary.
func Open(directory string, most int64) (*Store, error) {
	return OpenLimited(directory, most, math.MaxInt)
}

// OpenLimited opens a store that also limits the number of files: each counts as at least its share
// of the maximum size.
func OpenLimited(directory string, most int64, files int) (*Store, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, err
	}
	s := &Store{Directory: directory, Root: root, most: most, least: most / int64(max(files, 1)), parts: map[string]int64{}}
	for _, file := range s.List() {
		if strings.HasPrefix(path.Base(file.Name), PartPrefix) { // left by a killed process
			_ = root.Remove(file.Name)
			continue
		}
		s.total += s.sizeOnDisk(file.Size)
	}
	return s, nil
}

func (s *Store) sizeOnDisk(size int64) int64 { return SizeOnDisk(max(size, s.least)) }

// Close closes the directory.
func (s *Store) Close() error { return s.Root.Close() }

// Save atomically stores a file under a name, and replaces an existing one. It returns
// ErrTooLarge for more than limit bytes, and a *ReadError if the body cannot be read.
func (s *Store) Save(name string, body io.Reader, limit int64) (stored File, err error) {
	p := &part{store: s, name: path.Join(path.Dir(name), PartPrefix+uuid.NewString())}
	if p.File, err = s.create(p.name); err != nil {
		return stored, err
	}
	stored, err = Fill(p, body, limit)
	if err == nil {
		err = p.Sync()
	}
	err = errors.Join(err, p.Close())
	if err == nil {
		err = s.publish(p.name, name)
	}
	if err != nil {
		s.discard(p.name)
		return File{}, err
	}
	stored.Path = path.Join(s.Directory, name)
	return stored, nil
}

// create creates an incomplete file and its directories; no sweep can remove them in between.
func (s *Store) create(name string) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.Root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, err
	}
	file, err := s.Root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		s.parts[name] = 0
	}
	return file, err
}

// ReadError is an error of the client, not of the disk.
type ReadError struct{ error }

// OfDisk reports whether an error of Save is that of the disk, so that another attempt may succeed.
func OfDisk(err error) bool {
	_, reading := errors.AsType[*ReadError](err)
	return err != nil && !reading && !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrEmpty)
}

// Read returns the content of a file.
func (s *Store) Read(name string) ([]byte, error) { return s.Root.ReadFile(name) }

// WhileConnected returns a reader that fails when the client disconnects: nobody waits for the
// result.
func WhileConnected(ctx context.Context, body io.Reader) io.Reader { return whileConnected{body, ctx} }

type whileConnected struct {
	io.Reader
	ctx context.Context
}

func (c whileConnected) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}

// buffers are shared by all files, because an archive may have thousands of small ones.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

const bufferSize = 64 << 10

// Fill copies a body of at most limit bytes. It returns a *ReadError if the body cannot be read.
func Fill(file io.Writer, body io.Reader, limit int64) (stored File, err error) {
	hash := sha256.New()
	out, pooled := io.MultiWriter(file, hash), buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(pooled)
	buffer := pooled[:]
	for {
		n, readErr := body.Read(buffer)
		if stored.Size += int64(n); stored.Size > limit {
			return stored, ErrTooLarge
		}
		stored.Head = append(stored.Head, buffer[:min(n, headSize-len(stored.Head))]...)
		if _, err := out.Write(buffer[:n]); err != nil {
			return stored, err
		}
		if readErr == io.EOF {
			break
		}
		if readErr != nil {
			return stored, &ReadError{readErr}
		}
	}
	if stored.Size == 0 {
		return stored, ErrEmpty
	}
	stored.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return stored, nil
}

// part is an incomplete file. Its bytes count in the total before they are written.
type part struct {
	*os.File
	store   *Store
	name    string
	written int64
}

// Write implements io.Writer.
func (p *part) Write(b []byte) (int, error) {
	if err := p.store.reserve(p.name, p.store.sizeOnDisk(p.written+int64(len(b)))); err != nil {
		return 0, err
	}
	n, err := p.File.Write(b)
	p.written += int64(n)
	return n, err
}

// reserve makes room for an incomplete file of a size. It removes other files if necessary.
func (s *Store) reserve(part string, size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size > s.most {
		return ErrTooLarge
	}
	more := size - s.parts[part]
	if s.total+more > s.most {
		s.sweep(more)
	}
	if s.total+more > s.most {
		return ErrFull
	}
	s.total += more
	s.parts[part] = size
	return nil
}

// publish renames a complete file.
func (s *Store) publish(part, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, missing := s.Root.Stat(name)
	if err := s.Root.Rename(part, name); err != nil {
		return err
	}
	if missing == nil {
		s.total -= s.sizeOnDisk(before.Size())
	}
	delete(s.parts, part)
	return nil
}

// discard removes an incomplete file.
func (s *Store) discard(part string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total -= s.parts[part]
	delete(s.parts, part)
	_ = s.remove(part)
}

// Remove removes a file.
func (s *Store) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, err := s.Root.Stat(name)
	if err == nil {
		err = s.remove(name)
	}
	if err == nil {
		s.total -= s.sizeOnDisk(before.Size())
	}
	return err
}

// remove removes a file and the directories that it leaves empty.
func (s *Store) remove(name string) error {
	err := s.Root.Remove(name)
	for folder := path.Dir(name); err == nil && folder != "." && s.Root.Remove(folder) == nil; {
		folder = path.Dir(folder)
	}
	return err
}

// Move renames a file and replaces an existing one.
func (s *Store) Move(from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.Root.MkdirAll(path.Dir(to), 0o700); err != nil {
		return err
	}
	before, missing := s.Root.Stat(to)
	if err := s.Root.Rename(from, to); err != nil {
		return err
	}
	if missing == nil {
		s.total -= s.sizeOnDisk(before.Size())
	}
	return nil
}

// sweep removes files until the store has free space, starting with the oldest files of the app
// with the most bytes. Incomplete files count, but stay. It holds only the list of files in
// memory, because there may be millions.
func (s *Store) sweep(room int64) {
	files := s.List()
	slices.SortFunc(files, func(a, b Listed) int {
		return cmp.Or(strings.Compare(a.app(), b.app()), a.Time.Compare(b.Time), strings.Compare(a.Name, b.Name))
	})
	complete := files[:0]
	s.total = 0
	var apps []*share
	for _, file := range files {
		size, incomplete := s.parts[file.Name]
		if !incomplete {
			size = s.sizeOnDisk(file.Size)
		}
		if len(apps) == 0 || apps[len(apps)-1].name != file.app() {
			apps = append(apps, &share{name: file.app(), files: complete[len(complete):]})
		}
		app := apps[len(apps)-1]
		if !incomplete {
			complete = append(complete, file)
			app.files = app.files[:len(app.files)+1]
		}
		app.size += size
		s.total += size
	}
	for len(apps) > 0 && (s.total+room > s.most || s.total > s.most/100*sweptPercent) {
		largest := slices.MaxFunc(apps, func(a, b *share) int { return cmp.Compare(a.size, b.size) })
		if len(largest.files) == 0 {
			return // no file can be removed
		}
		oldest := largest.files[0]
		largest.files = largest.files[1:]
		largest.size -= s.sizeOnDisk(oldest.Size)
		if s.remove(oldest.Name) == nil {
			s.total -= s.sizeOnDisk(oldest.Size)
		}
	}
}

// share is the share of an app in a store.
type share struct {
	name  string
	files []Listed // complete ones, oldest first
	size  int64
}

// Listed is a file of a store.
type Listed struct {
	Name string
	Size int64
	Time time.Time
}

// app returns the folder of the app.
func (f *Listed) app() string {
	app, _, _ := strings.Cut(f.Name, "/")
	return app
}

// Total returns the bytes on disk.
func (s *Store) Total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// List returns all files.
func (s *Store) List() (files []Listed) {
	_ = fs.WalkDir(s.Root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // removed in the meantime, or not ours
		}
		if info, err := entry.Info(); err == nil {
			files = append(files, Listed{name, info.Size(), info.ModTime()})
		}
		return nil
	})
	return files
}
