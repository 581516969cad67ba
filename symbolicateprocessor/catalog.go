// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"cmp"
	"context"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/sourcemap"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/uploads"
)

// catalog lists the symbol files of a directory. It is immutable: each scan creates a new one.
type catalog struct {
	files    map[string]*file      // all, by path in the directory
	byID     map[uuid.UUID]*bundle // JavaScript files that have a source map
	byPath   map[string]*bundle    // the same, by path; those of a release by release and path
	mappings map[uuid.UUID]*bundle // ProGuard and R8 mappings
	objects  map[string]*bundle    // native objects, by build ID and by debug ID: hex digits only
	builds   map[string]string     // ID of a build → path of the record of its mapping, see measure.go
	known    int                   // number of bundles
	full     bool                  // the directory has more files than store::max_files
}

// file is a file of the directory.
type file struct {
	path     string
	modified time.Time
	size     int64
	bundles  []*bundle // several in a fat Mach-O file; none if the file has no symbols

	build, upload string // of the record of a build, see measure.go
}

// bundle is a unit that is opened as a whole: a generated JavaScript file and its map, a ProGuard
// mapping, or a native object.
type bundle struct {
	file     *file
	kind     kind
	source   string        // path of a JavaScript file's map, or of the content that a record refers to
	id       uuid.UUID     // debug ID, or zero; for ProGuard mappings, the UUID computed from the content
	assigned uuid.UUID     // UUID in the path of a ProGuard mapping, else zero
	object   native.Object // for native files
}

// content returns the path of the largest file: a source map, a ProGuard mapping or a native file.
func (b *bundle) content() string { return cmp.Or(b.source, b.file.path) }

type kind uint8

const (
	script kind = iota
	mapping
	object
)

// indexFolder is the folder for the indexes of native files, unless store::index_directory is set.
const indexFolder = ".index"

// scanner finds the symbol files of a directory.
type scanner struct {
	root   *os.Root
	cfg    *StoreConfig
	logger *zap.Logger
	bad    *badFiles
}

// scan lists the files of the directory, and reads the heads, tails or full contents of new and
// changed ones.
func (s *scanner) scan(ctx context.Context, before *catalog) (*catalog, error) {
	next := &catalog{
		files: map[string]*file{}, byID: map[uuid.UUID]*bundle{}, byPath: map[string]*bundle{}, mappings: map[uuid.UUID]*bundle{}, objects: map[string]*bundle{},
		builds: map[string]string{},
	}
	// Uploads and downloads come last: however many there are, they do not hide the other files.
	for _, folder := range []string{".", uploadsFolder, downloadsFolder} {
		err := fs.WalkDir(s.root.FS(), folder, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				return nil // unreadable folders do not hide the others
			case entry.IsDir():
				if entry.Name() == indexFolder || name == uploadsFolder+"/"+uploads.ChunksFolder || folder == "." && (name == uploadsFolder || name == downloadsFolder) {
					return fs.SkipDir
				}
				return nil
			case max(len(next.files), next.known) >= s.cfg.MaxFiles:
				next.full = true
				return fs.SkipAll
			}
			if info, err := entry.Info(); err == nil && entry.Type().IsRegular() && !strings.HasPrefix(entry.Name(), filestore.PartPrefix) {
				next.add(s.read(name, info, before))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return next, nil
}

// read returns the result of the last scan for a file, unless the file has changed. It rereads
// scripts without a map, because the map may arrive later or may have been removed.
func (s *scanner) read(name string, info fs.FileInfo, before *catalog) *file {
	known := before.files[name]
	if known != nil && known.modified.Equal(info.ModTime()) && known.size == info.Size() && (!isScript(name) || s.hasMap(known)) {
		return known
	}
	f := &file{path: name, modified: info.ModTime(), size: info.Size()}
	content, err := s.root.Open(name)
	if err != nil {
		return f
	}
	defer content.Close()
	s.identify(f, func() {
		if isScript(name) {
			f.bundles = s.readScript(f, content)
		} else if isRecord(name) {
			f.bundles = readRecord(f, content)
		} else if f.bundles = s.readObjects(f, content); f.bundles == nil && isMapping(name) {
			f.bundles = s.readMapping(f, content)
		}
	})
	for _, b := range f.bundles {
		b.file = f
	}
	return f
}

// hasMap reports whether the source map of a script still exists.
func (s *scanner) hasMap(f *file) bool {
	if len(f.bundles) == 0 {
		return false
	}
	_, err := s.root.Stat(f.bundles[0].source)
	return err == nil
}

// fits reports whether a file is within a limit of the configuration.
func (s *scanner) fits(f *file, key string, limit int64) bool {
	if f.size > limit {
		s.logger.Warn("A symbol file is too large to be used", zap.String("file", f.path), zap.Int64("bytes", f.size), zap.Int64(key, limit))
	}
	return f.size <= limit
}

func isScript(name string) bool {
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs":
		return true
	}
	return false
}

// readScript returns the bundle of a JavaScript file, or nil if there is no map next to the file.
func (s *scanner) readScript(f *file, content *os.File) []*bundle {
	links := sourcemap.ReadLinksAt(content, f.size)
	b := &bundle{kind: script}
	b.id, _ = uuid.Parse(links.DebugID)
	candidates := []string{f.path + ".map"}
	if link, err := url.Parse(links.Map); err == nil && links.Map != "" && link.Path != "" {
		candidates = append(candidates, path.Join(path.Dir(f.path), path.Base(link.Path)))
	}
	for _, candidate := range candidates {
		if info, err := s.root.Stat(candidate); err == nil && info.Mode().IsRegular() {
			b.source = candidate
			return []*bundle{b}
		}
	}
	return nil
}

func (c *catalog) add(f *file) {
	c.files[f.path] = f
	c.known += len(f.bundles)
	if f.build != "" {
		c.builds[f.build] = f.upload
	}
	for _, b := range f.bundles {
		switch b.kind {
		case script:
			if name, ok := nameOf(f.path); ok {
				c.byPath[name] = b
			}
			if b.id != uuid.Nil {
				c.byID[b.id] = b
			}
		case mapping:
			c.mappings[b.id] = b
			c.mappings[b.assigned] = b
		case object:
			c.addObject(b)
		}
	}
	delete(c.mappings, uuid.Nil)
}

// releasesFolder is the folder of uploaded scripts without debug IDs. Like a user, the uploads use
// a folder for each release.
const releasesFolder = uploadsFolder + "/" + uploads.ReleasesFolder + "/"

// nameOf returns the path by which a script is found. Other uploads and downloads have none,
// because several builds have equal paths.
func nameOf(file string) (string, bool) {
	if name, ok := strings.CutPrefix(file, releasesFolder); ok {
		return name, true
	}
	return file, !strings.HasPrefix(file, uploadsFolder+"/") && !strings.HasPrefix(file, downloadsFolder+"/")
}

// has reports whether a bundle is still current.
func (c *catalog) has(b *bundle) bool { return c.files[b.file.path] == b.file }

// maxParts is the maximum number of path segments of a URL.
const maxParts = 64

// find returns the file of a script: the one with its debug ID, or else the one with the longest
// path that the script's URL ends with, in the folder of the release or in the directory, or else
// the one that was downloaded from the URL. A file with another debug ID belongs to another build.
func (c *catalog) find(id symbolicate.ScriptID) *bundle {
	wanted, err := uuid.Parse(id.DebugID)
	if err == nil && c.byID[wanted] != nil {
		return c.byID[wanted]
	}
	usable := func(b *bundle) bool { return b != nil && (err != nil || b.id == uuid.Nil) }
	parts := pathOf(id.URL)
	for _, folder := range []string{uploads.ReleaseFolder(id.Release) + "/", ""} {
		for i := max(0, len(parts)-maxParts); i < len(parts); i++ {
			if b := c.byPath[folder+strings.Join(parts[i:], "/")]; usable(b) {
				return b
			}
		}
	}
	if b := c.downloaded(id.URL); usable(b) {
		return b
	}
	return nil
}

// pathOf returns the path segments of a URL or file.
func pathOf(location string) []string {
	if u, err := url.Parse(location); err == nil && u.Scheme != "" && u.Path != "" {
		location = u.Path
	}
	return strings.Split(strings.ReplaceAll(location, `\`, "/"), "/")
}
