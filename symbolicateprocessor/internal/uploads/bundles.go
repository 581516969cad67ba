// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
)

// bundle is a zip of JavaScript files and source maps to assemble.
type bundle struct {
	Checksum string   `json:"checksum"`
	Chunks   []string `json:"chunks"`
	Release  string   `json:"version"`
}

// manifest lists the files of a zip or of a stored bundle.
type manifest struct {
	Files map[string]bundleFile `json:"files"`
}

type bundleFile struct {
	Type    string            `json:"type"`
	Headers map[string]string `json:"headers"`
}

const (
	manifestName = "manifest.json"

	typeScript = "minified_source"
	typeMap    = "source_map"

	// maxRatio is the maximum compression ratio of a zip: source maps shrink to a tenth.
	maxRatio = 100

	// maxArchive is the maximum size of a zip: those of large web apps have some 100 MB.
	maxArchive = 1 << 30

	// maxDirectory is the maximum size of the list of files in a zip, which is read into memory:
	// enough for maxFiles files.
	maxDirectory = 8 << 20

	// maxPath and maxFolders limit the paths of files: folders use space on disk, too.
	maxPath    = 1 << 10
	maxFolders = 32
)

// limitedReaderAt fails after a number of bytes.
type limitedReaderAt struct {
	io.ReaderAt
	left int64
}

func (l *limitedReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, fmt.Errorf("the list of files has more than %d bytes", maxDirectory)
	}
	return l.ReaderAt.ReadAt(p, at)
}

// assembleBundle concatenates the chunks of a zip, and stores its scripts and source maps.
func (s *Server) assembleBundle(w http.ResponseWriter, r *http.Request) {
	var b bundle
	done, ok := s.read(w, r, &b)
	defer done()
	if !ok {
		return
	}
	leave, ok := enter(r.Context(), s.running)
	defer leave()
	if ok {
		respond(w, http.StatusOK, s.bundle(r.Context(), b))
	}
}

func (s *Server) bundle(ctx context.Context, b bundle) answer {
	folder, packed := bundleFolder(b.Checksum), ChunksFolder+"/"+b.Checksum+".zip"
	if !isSHA1(b.Checksum) {
		return s.failed(errors.New("the checksum is not a SHA-1"))
	}
	if s.hasBundle(folder) {
		s.Count(Known)
		return answer{State: stateOK, Missing: []string{}}
	}
	if missing := s.missing(b.Chunks); len(missing) > 0 || len(b.Chunks) == 0 {
		return answer{State: stateNotFound, Missing: missing}
	}
	if err := s.assemble(ctx, packed, b.Checksum, b.Chunks, min(maxArchive, s.MaxNativeBytes)); err != nil {
		return s.failed(err)
	}
	defer func() { _ = s.store.Remove(packed) }()
	if err := s.unpack(ctx, packed, b); err != nil {
		return s.failed(err)
	}
	s.Count(Stored)
	s.Stored()
	return answer{State: stateOK, Missing: []string{}}
}

// hasBundle reports whether all files of a bundle are stored.
func (s *Server) hasBundle(folder string) bool {
	text, err := s.store.Read(folder + manifestName)
	var m manifest
	if err != nil || json.Unmarshal(text, &m) != nil {
		return false
	}
	for name := range m.Files {
		if _, err := s.store.Root.Stat(folder + name); err != nil {
			return false
		}
	}
	return true
}

func bundleFolder(checksum string) string { return "bundles/" + checksum + "/" }

// ReleasesFolder is the folder of bundles without debug IDs. Each release has a folder, in which a
// new build replaces the files of the old one.
const ReleasesFolder = "releases"

// ReleaseFolder returns the name of the folder of a release.
func ReleaseFolder(release string) string { return strings.ReplaceAll(release, "/", "%2F") }

// maxRelease is Sentry's limit.
const maxRelease = 200

// folders returns where to store the files of a bundle: where scripts are found by their debug IDs
// or, if there are none, by release and path.
func (b *bundle) folders(m manifest) (folder string, path func(name string) string, err error) {
	for _, f := range m.Files {
		if f.debugID() != "" {
			return bundleFolder(b.Checksum), func(name string) string { return name }, nil
		}
	}
	folder = ReleasesFolder + "/" + ReleaseFolder(b.Release)
	switch {
	case b.Release == "":
		return "", nil, errors.New("no script has a debug ID: run sentry-cli sourcemaps inject before the upload, and deploy the files that it changed; " +
			"or upload with --release")
	case !fs.ValidPath(folder) || len(folder) > maxRelease:
		return "", nil, fmt.Errorf("invalid release %.100q", b.Release)
	}
	return folder + "/", pathInURL, nil
}

// pathInURL returns the path of a file's URL. The archive has the file by scheme, host and path;
// both are _ for ~/.
func pathInURL(name string) string {
	parts := strings.SplitN(strings.TrimPrefix(name, "files/"), "/", 3)
	return parts[len(parts)-1]
}

// unpack stores the scripts and source maps of a zip, and finally the list of these files.
func (s *Server) unpack(ctx context.Context, packed string, b bundle) error {
	leave, ok := enter(ctx, s.unpacking)
	defer leave()
	if !ok {
		return ctx.Err()
	}
	content, err := s.store.Root.Open(packed)
	if err != nil {
		return err
	}
	defer content.Close()
	info, err := content.Stat()
	if err != nil {
		return err
	}
	directory := &limitedReaderAt{ReaderAt: content, left: maxDirectory}
	archive, err := zip.NewReader(directory, info.Size())
	directory.left = math.MaxInt64 // the files have their own limit
	if err != nil {
		return fmt.Errorf("cannot read the archive: %w", err)
	}
	m, err := readManifest(archive)
	if err != nil {
		return err
	}
	names, err := m.usable()
	if err != nil {
		return err
	}
	folder, path, err := b.folders(m)
	if err != nil {
		return err
	}
	left := min(maxRatio*info.Size(), s.MaxNativeBytes)
	kept := manifest{Files: map[string]bundleFile{}}
	for _, name := range names {
		size, err := s.unpackFile(ctx, archive, name, folder+path(name), m.Files[name], min(left, s.MaxFileBytes))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		left -= size
		kept.Files[path(name)] = m.Files[name]
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	_, err = s.save(folder+manifestName, strings.NewReader(string(text)), maxDescription)
	return err
}

func readManifest(archive *zip.Reader) (m manifest, err error) {
	file, err := archive.Open(manifestName)
	if err != nil {
		return m, fmt.Errorf("the archive has no list of files: %w", err)
	}
	defer file.Close()
	err = json.NewDecoder(io.LimitReader(file, maxDescription)).Decode(&m)
	if err == nil && len(m.Files) > maxFiles {
		err = fmt.Errorf("the archive has %d files, more than %d", len(m.Files), maxFiles)
	}
	return m, err
}

// usable returns the names of source maps, then those of scripts: a script without its map is not
// used.
func (m manifest) usable() (names []string, err error) {
	for _, kind := range []string{typeMap, typeScript} {
		for name, f := range m.Files {
			switch {
			case f.Type != kind:
			case !fs.ValidPath(name) || name == manifestName || len(name) > maxPath || strings.Count(name, "/") > maxFolders:
				return nil, fmt.Errorf("invalid path %.100q", name)
			default:
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// debugID returns the debug ID of a script.
func (f bundleFile) debugID() string {
	if f.Type != typeScript {
		return ""
	}
	for key, value := range f.Headers {
		if id, err := uuid.Parse(value); err == nil && strings.EqualFold(key, "debug-id") {
			return id.String()
		}
	}
	return ""
}

// unpackFile stores a file of a zip. It appends the debug ID to scripts, because sentry-cli may
// have read the ID from the map instead.
func (s *Server) unpackFile(ctx context.Context, archive *zip.Reader, name, target string, f bundleFile, limit int64) (int64, error) {
	content, err := archive.Open(name)
	if err != nil {
		return 0, err
	}
	defer content.Close()
	var body io.Reader = content
	if id := f.debugID(); id != "" {
		body = io.MultiReader(body, strings.NewReader("\n//# debugId="+id+"\n"))
	}
	stored, err := s.save(target, filestore.WhileConnected(ctx, body), limit)
	return stored.Size, err
}
