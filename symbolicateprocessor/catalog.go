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

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/sourcemap"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/uploads"
)

// catalog lists the symbol files of a directory. It is immutable: each scan creates a new one.
//
// A file belongs to the operator, who provides it for all tenants, or to the app that uploaded it
// to the measure receiver. In either scope, the first file with an identity stays.
type catalog struct {
	files map[string]*file // all, by path in the directory
	scope                  // of the operator
	apps  map[string]*scope

	downloads map[string]*bundle // JavaScript files by the hash of their URL
	known     int                // number of bundles
	full      bool               // the directory has more files than store::max_files
}

// scope finds files by their identities.
type scope struct {
	byID     map[uuid.UUID]*bundle // JavaScript files that have a source map
	byPath   map[string]*bundle    // the same, by path; those of a release by release and path
	mappings map[uuid.UUID]*bundle // ProGuard and R8 mappings
	objects  map[string]*bundle    // native objects, by build ID and by debug ID: hex digits only
	builds   map[string]*bundle    // mappings by the ID of a build, see measure.go
}

func newScope() scope {
	return scope{
		byID: map[uuid.UUID]*bundle{}, byPath: map[string]*bundle{}, mappings: map[uuid.UUID]*bundle{}, objects: map[string]*bundle{}, builds: map[string]*bundle{},
	}
}

// emptyScope has no files.
var emptyScope scope

// own returns the files that only the messages of a tenant may use.
func (c *catalog) own(t tenant.Tenant) *scope {
	if s := c.apps[t.Name]; s != nil && t.Ingress == tenant.Measure {
		return s
	}
	return &emptyScope
}

// file is a file of the directory.
type file struct {
	path     string
	modified time.Time
	size     int64
	bundles  []*bundle // several in a fat Mach-O file; none if the file has no symbols

	// Of the measure receiver, see measure.go.
	app     string   // whose file it is, or ""
	build   string   // ID of the build that a record describes
	uploads []string // paths of the records of its mappings
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
	next := &catalog{files: map[string]*file{}, scope: newScope(), apps: map[string]*scope{}, downloads: map[string]*bundle{}}
	var records fairshare.Queue[string, listed]
	// Uploads, downloads and the files of apps come last: however many there are, they do not hide
	// the other files.
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
			}
			app, kind := "", measureNone
			if folder == "." {
				app, kind = measureFile(name)
			}
			if kind == measureNone && max(len(next.files), next.known) >= s.cfg.MaxFiles {
				next.full = true
				if folder != "." {
					return fs.SkipAll
				}
				return nil // there may be records
			}
			info, err := entry.Info()
			if err != nil || !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), filestore.PartPrefix) {
				return nil
			}
			switch kind {
			case measureNone:
				next.add(s.read(name, info, before))
			case measureRecord:
				if records.Push(app, listed{name, info}, 1); records.Len() > s.cfg.MaxFiles {
					records.Remove(records.LargestOldest())
					next.full = true
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	next.addRecords(ctx, &records, s, before)
	return next, ctx.Err()
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

// listed is a file of the directory that has not been read yet.
type listed struct {
	name string
	info fs.FileInfo
}

// add adds a file of the operator.
func (c *catalog) add(f *file) {
	c.files[f.path] = f
	c.known += len(f.bundles)
	for _, b := range f.bundles {
		c.scope.add(b)
		c.addDownload(b)
	}
}

// add adds a bundle by its identities.
func (s *scope) add(b *bundle) {
	switch b.kind {
	case script:
		if name, ok := nameOf(b.file.path); ok {
			addFirst(s.byPath, name, b)
		}
		if b.id != uuid.Nil {
			addFirst(s.byID, b.id, b)
		}
	case mapping:
		for _, id := range []uuid.UUID{b.id, b.assigned} {
			if id != uuid.Nil {
				addFirst(s.mappings, id, b)
			}
		}
	case object:
		s.addObject(b)
	}
}

// addFirst adds a bundle, unless an earlier one has the same identity.
func addFirst[K comparable](all map[K]*bundle, id K, b *bundle) {
	if known := all[id]; known == nil || b.file.before(known.file) {
		all[id] = b
	}
}

// before reports whether a file takes precedence over another one with the same identity: files
// that the operator has copied into the directory, then uploads, then downloads, the oldest first.
func (f *file) before(other *file) bool {
	return cmp.Or(cmp.Compare(f.origin(), other.origin()), f.modified.Compare(other.modified), strings.Compare(f.path, other.path)) < 0
}

func (f *file) origin() int {
	switch folder, _, _ := strings.Cut(f.path, "/"); folder {
	case uploadsFolder:
		return 1
	case downloadsFolder:
		return 2
	}
	return 0
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
