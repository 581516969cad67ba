// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// fileStore stores files in a directory. os.Root prevents access outside the directory, whatever
// the names are. If the store exceeds its size, the app with the most bytes loses its oldest files.
// The first folder of a name belongs to the app.
type fileStore struct {
	directory string
	root      *os.Root
	most      int64

	mu    sync.Mutex
	total int64 // bytes stored, see sizeOnDisk
}

// storedFile describes a stored file.
type storedFile struct {
	path   string // including the directory of the store
	size   int64
	sha256 string
	head   []byte // the first bytes
}

// blockSize is the usual block size of file systems, and about the size of the metadata of a file.
// Every file counts as at least one block; otherwise, a client with the key of an app could exhaust
// the inodes with a hundred million tiny files.
const blockSize = 4096

func sizeOnDisk(size int64) int64 { return (size + blockSize - 1) / blockSize * blockSize }

const (
	headSize     = 512 // the bytes that http.DetectContentType uses
	partPrefix   = ".part-"
	sweptPercent = 90 // of the maximum size, after a sweep
)

var (
	errFileTooLarge = errors.New("the file is too large")
	errFileEmpty    = errors.New("the file is empty")
	errOverwrite    = errors.New("another file is stored under that name")
)

func openFileStore(directory string, most int64) (*fileStore, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, err
	}
	s := &fileStore{directory: directory, root: root, most: most}
	for _, file := range s.list() {
		if strings.HasPrefix(path.Base(file.name), partPrefix) { // left by a killed process
			_ = root.Remove(file.name)
			continue
		}
		s.total += sizeOnDisk(file.size)
	}
	return s, nil
}

func (s *fileStore) close() error { return s.root.Close() }

// save atomically stores a file under a name, and replaces an existing one. It returns
// errFileTooLarge for more than limit bytes, and a *readError if the body cannot be read.
func (s *fileStore) save(name string, body io.Reader, limit int64) (stored storedFile, err error) {
	part := path.Join(path.Dir(name), partPrefix+uuid.NewString())
	file, err := s.create(part)
	if err != nil {
		return stored, err
	}
	stored, err = fill(file, body, limit)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = s.publish(part, name, stored.size)
	}
	if err != nil {
		_ = s.root.Remove(part)
		return storedFile{}, err
	}
	stored.path = path.Join(s.directory, name)
	return stored, nil
}

// create creates a file and its directories; no sweep can remove them in between.
func (s *fileStore) create(name string) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return s.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// readError is an error of the client, not of the disk.
type readError struct{ error }

// read returns the content of a file.
func (s *fileStore) read(name string) ([]byte, error) { return s.root.ReadFile(name) }

func fill(file io.Writer, body io.Reader, limit int64) (stored storedFile, err error) {
	hash := sha256.New()
	out, buffer := io.MultiWriter(file, hash), make([]byte, 64<<10)
	for {
		n, readErr := body.Read(buffer)
		if stored.size += int64(n); stored.size > limit {
			return stored, errFileTooLarge
		}
		stored.head = append(stored.head, buffer[:min(n, headSize-len(stored.head))]...)
		if _, err := out.Write(buffer[:n]); err != nil {
			return stored, err
		}
		if readErr == io.EOF {
			break
		}
		if readErr != nil {
			return stored, &readError{error: readErr}
		}
	}
	if stored.size == 0 {
		return stored, errFileEmpty
	}
	stored.sha256 = hex.EncodeToString(hash.Sum(nil))
	return stored, nil
}

func (s *fileStore) publish(part, name string, size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size = sizeOnDisk(size); size > s.most {
		return errFileTooLarge
	}
	if before, err := s.root.Stat(name); err == nil {
		s.total -= sizeOnDisk(before.Size())
	}
	if s.total+size > s.most {
		s.sweep(size)
	}
	if err := s.root.Rename(part, name); err != nil {
		return err
	}
	s.total += size
	return nil
}

// remove removes a file.
func (s *fileStore) remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, err := s.root.Stat(name)
	if err == nil {
		err = s.root.Remove(name)
	}
	if err == nil {
		s.total -= sizeOnDisk(before.Size())
	}
	return err
}

// move renames a file and replaces an existing one.
func (s *fileStore) move(from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.root.MkdirAll(path.Dir(to), 0o700); err != nil {
		return err
	}
	before, missing := s.root.Stat(to)
	if err := s.root.Rename(from, to); err != nil {
		return err
	}
	if missing == nil {
		s.total -= sizeOnDisk(before.Size())
	}
	return nil
}

// sweep removes files until the store has free space, starting with the oldest files of the app
// with the most bytes. It also removes empty directories. It holds only the list of files in
// memory, because there may be millions.
func (s *fileStore) sweep(room int64) {
	files := slices.DeleteFunc(s.list(), func(f listedFile) bool { return strings.HasPrefix(path.Base(f.name), partPrefix) })
	slices.SortFunc(files, func(a, b listedFile) int {
		return cmp.Or(strings.Compare(a.app(), b.app()), a.time.Compare(b.time), strings.Compare(a.name, b.name))
	})
	s.total = 0
	var apps []*share
	for i, file := range files {
		if i == 0 || files[i-1].app() != file.app() {
			apps = append(apps, &share{files: files[i:i]})
		}
		app := apps[len(apps)-1]
		app.files = app.files[:len(app.files)+1]
		app.size += sizeOnDisk(file.size)
		s.total += sizeOnDisk(file.size)
	}
	for len(apps) > 0 && (s.total+room > s.most || s.total > s.most/100*sweptPercent) {
		largest := slices.MaxFunc(apps, func(a, b *share) int { return cmp.Compare(a.size, b.size) })
		if len(largest.files) == 0 {
			return // no file can be removed
		}
		oldest := largest.files[0]
		largest.files = largest.files[1:]
		largest.size -= sizeOnDisk(oldest.size)
		if s.root.Remove(oldest.name) == nil {
			s.total -= sizeOnDisk(oldest.size)
			_ = s.root.Remove(path.Dir(oldest.name)) // fails unless it is empty
		}
	}
}

// share is the share of an app in a store.
type share struct {
	files []listedFile // oldest first
	size  int64
}

type listedFile struct {
	name string
	size int64
	time time.Time
}

// app returns the folder of the app.
func (f *listedFile) app() string {
	app, _, _ := strings.Cut(f.name, "/")
	return app
}

func (s *fileStore) list() (files []listedFile) {
	_ = fs.WalkDir(s.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // removed in the meantime, or not ours
		}
		if info, err := entry.Info(); err == nil {
			files = append(files, listedFile{name, info.Size(), info.ModTime()})
		}
		return nil
	})
	return files
}

// attachmentName returns the file name of an attachment. The name contains no text from clients.
func attachmentName(a *app, id uuid.UUID, day time.Time) string {
	return fmt.Sprintf("%s/%s/%s", a.folder, day.UTC().Format(time.DateOnly), id)
}
