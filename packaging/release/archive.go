// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry is a file or, with a trailing slash in its name, a folder of a tar archive.
type entry struct {
	name   string
	source string // path of the content, or
	body   []byte // the content
	mode   int64
	owner  int
}

// writeTar writes an archive whose bytes depend on nothing but its arguments.
func writeTar(w io.Writer, modified time.Time, entries []entry) error {
	archive := tar.NewWriter(w)
	for _, e := range entries {
		if e.source != "" {
			body, err := os.ReadFile(e.source)
			if err != nil {
				return err
			}
			e.body = body
		}
		header := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.body)), ModTime: modified, Typeflag: tar.TypeReg}
		if strings.HasSuffix(e.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(e.body); err != nil {
			return err
		}
	}
	return archive.Close()
}

// archiveName returns the file name of a platform's archive. Windows, too, has tar.
func (r *release) archiveName(t target) string {
	return fmt.Sprintf("otelcol-sentry_%s_%s_%s.tar.gz", r.version, t.os, t.arch)
}

// writeArchive writes the archive of a platform: both programs, a configuration and the licenses.
func (r *release) writeArchive(t target) error {
	collector, tool := r.program(t, "otelcol-sentry"), r.program(t, "envelope")
	return r.writeCompressed(r.archiveName(t), []entry{
		{name: filepath.Base(collector), source: collector, mode: 0o755},
		{name: filepath.Base(tool), source: tool, mode: 0o755},
		{name: "config.yaml", source: filepath.Join(top, "examples", "quickstart", "config.yaml"), mode: 0o644},
		{name: "LICENSE", source: filepath.Join(top, "LICENSE"), mode: 0o644},
		{name: noticesFile, source: r.notices, mode: 0o644},
	})
}

// writeChart writes the Helm chart as an archive, without the values of its tests.
func (r *release) writeChart() error {
	var entries []entry
	const charts, chart = "helm", "otelcol-sentry"
	err := filepath.WalkDir(filepath.Join(charts, chart), func(path string, file fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case file.IsDir() && file.Name() == "ci":
			return filepath.SkipDir
		case file.IsDir():
			return nil
		}
		name, err := filepath.Rel(charts, path)
		entries = append(entries, entry{name: filepath.ToSlash(name), source: path, mode: 0o644})
		return err
	})
	if err != nil {
		return err
	}
	return r.writeCompressed(fmt.Sprintf("%s-%s.tgz", chart, r.version), entries)
}

// writeCompressed writes a compressed archive.
func (r *release) writeCompressed(name string, entries []entry) error {
	return writeFile(filepath.Join(r.out, name), func(w io.Writer) error {
		compressed := gzip.NewWriter(w)
		if err := writeTar(compressed, r.time, entries); err != nil {
			return err
		}
		return compressed.Close()
	})
}

// writeFile creates a file and removes it if its content cannot be written.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		file.Close()
		os.Remove(path)
		return fmt.Errorf("%s: %w", path, err)
	}
	return file.Close()
}
