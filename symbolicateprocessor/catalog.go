// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"cmp"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/symbols/sourcemap"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/symbolicate"
)

// catalog has the symbol files of a directory. It is immutable: a scan makes the next one.
type catalog struct {
	byID     map[uuid.UUID]*bundle // JavaScript files that have a source map
	mappings map[uuid.UUID]*bundle // of ProGuard and R8
	byPath   map[string]*bundle    // all
	full     bool                  // the directory has more files
}

// bundle is a generated JavaScript file and its map, or a ProGuard mapping.
type bundle struct {
	script, source string // paths in the directory; source is the map, script is empty for ProGuard mappings
	modified       time.Time
	size           int64
	id             uuid.UUID // zero without a debug ID; that of the content for ProGuard mappings
	assigned       uuid.UUID // in the path of a ProGuard mapping, else zero
}

// path returns the path by which the catalog knows the bundle.
func (b *bundle) path() string { return cmp.Or(b.script, b.source) }

// tail is how much of the end of a JavaScript file is read for its links. A map inside of the file is longer, and is not supported.
const tail = 4096

// scan reads the names of a directory, and the last lines of new and changed files.
func scan(root *os.Root, limit int, before *catalog) (*catalog, error) {
	next := &catalog{byID: map[uuid.UUID]*bundle{}, mappings: map[uuid.UUID]*bundle{}, byPath: map[string]*bundle{}}
	entries := 0
	err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // unreadable folders do not hide the others
		}
		if entries++; entries > limit {
			next.full = true
			return fs.SkipAll
		}
		if entry.Type().IsRegular() && (isScript(name) || isMapping(name)) {
			if b := readBundle(root, name, entry, before); b != nil {
				next.add(b)
			}
		}
		return nil
	})
	return next, err
}

func isScript(name string) bool {
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs":
		return true
	}
	return false
}

// readBundle returns the bundle of a JavaScript file, or nil if the file has no map beside it; or that of a ProGuard mapping.
func readBundle(root *os.Root, name string, entry fs.DirEntry, before *catalog) *bundle {
	info, err := entry.Info()
	if err != nil {
		return nil
	}
	if known := before.byPath[name]; known != nil && known.modified.Equal(info.ModTime()) && known.size == info.Size() {
		return known
	}
	if !isScript(name) {
		return readMapping(root, name, info)
	}
	b := &bundle{script: name, modified: info.ModTime(), size: info.Size()}
	links := sourcemap.ReadLinks(readTail(root, name, info.Size()))
	b.id, _ = uuid.Parse(links.DebugID)
	candidates := []string{name + ".map"}
	if link, err := url.Parse(links.Map); err == nil && links.Map != "" && link.Path != "" {
		candidates = append(candidates, path.Join(path.Dir(name), path.Base(link.Path)))
	}
	for _, candidate := range candidates {
		if info, err := root.Stat(candidate); err == nil && info.Mode().IsRegular() {
			b.source = candidate
			return b
		}
	}
	return nil
}

// readTail returns the end of a file.
func readTail(root *os.Root, name string, size int64) string {
	file, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, _ := io.ReadAll(io.NewSectionReader(file, max(0, size-tail), tail))
	return string(text)
}

func (c *catalog) add(b *bundle) {
	c.byPath[b.path()] = b
	if b.script == "" {
		c.mappings[b.id] = b
		if b.assigned != uuid.Nil {
			c.mappings[b.assigned] = b
		}
		return
	}
	if b.id != uuid.Nil {
		c.byID[b.id] = b
	}
}

// maxParts bounds the folders of a URL.
const maxParts = 64

// find returns the file of a script: the one with its debug ID, else the one whose path in the directory is the end of its URL; of several, the
// longest path. A file with another debug ID is of another build.
func (c *catalog) find(id symbolicate.ScriptID) *bundle {
	wanted, err := uuid.Parse(id.DebugID)
	if err == nil && c.byID[wanted] != nil {
		return c.byID[wanted]
	}
	parts := pathOf(id.URL)
	for i := max(0, len(parts)-maxParts); i < len(parts); i++ {
		if b := c.byPath[strings.Join(parts[i:], "/")]; b != nil && b.script != "" && (err != nil || b.id == uuid.Nil) {
			return b
		}
	}
	return nil
}

// pathOf returns the parts of the path of a URL or file.
func pathOf(location string) []string {
	if u, err := url.Parse(location); err == nil && u.Scheme != "" && u.Path != "" {
		location = u.Path
	}
	return strings.Split(strings.ReplaceAll(location, `\`, "/"), "/")
}
