// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// The measure receiver stores files under their hash, in a folder for each app, which is the tenant
// of the app's messages. Its records refer to them:
//
//	<app>/debug-ids/<2 digits>/<the rest>.json   the first upload with a debug ID: type, file
//	<app>/mappings/<id>.json                     an upload: the same
//	<app>/builds/<version>/<code>/<type>.json    a build: the IDs of its uploads
//
// Every copy of an app contains the key to upload files. They are therefore only used for the
// messages of the app, and only through records.

// record is a record of an upload or of a build.
type record struct {
	Type     string   `json:"type"`
	File     string   `json:"file"` // in the directory of builds
	DebugIDs []string `json:"debug_ids"`

	Version string `json:"version_name"`
	Code    string `json:"version_code"`
	Files   []struct {
		ID   string `json:"id"`
		Type string `json:"type"`
	} `json:"mappings"`
}

// The types of uploads, and the maximum size of a record.
const (
	typeProguard = "proguard"
	typeDSYM     = "dsym"
	typeELF      = "elf_debug"

	maxRecord = 1 << 20
)

// measureKind is the kind of a file of the measure receiver.
type measureKind uint8

const (
	measureNone    measureKind = iota // any other file
	measureContent                    // used through a record only
	measureRecord
)

// Forms of the paths that the receiver writes in the folder of an app, also those of attachments.
// Clients choose the version and code of a build, so no form may fit a build of another app.
var (
	recordPath  = regexp.MustCompile(`(?:^|/)([^/]+)/(?:debug-ids/[0-9a-f]{2}/[0-9a-f-]{6,}|mappings/` + uuidForm + `|builds/[^/]+/[^/]+/(?:aab|apk|ipa))\.json$`)
	contentPath = regexp.MustCompile(`(?:^|/)([^/]+)/(?:files/[0-9a-f]{2}/[0-9a-f]{64}|(?:uploads|\d{4}-\d\d-\d\d)/` + uuidForm + `)$`)
)

const uuidForm = `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`

// measureFile returns the kind of a file, and the folder of the app.
func measureFile(name string) (app string, kind measureKind) {
	if m := recordPath.FindStringSubmatch(name); m != nil {
		return m[1], measureRecord
	}
	if m := contentPath.FindStringSubmatch(name); m != nil {
		return m[1], measureContent
	}
	return "", measureNone
}

// folder returns the name of the nth folder above a file.
func folder(name string, n int) string { return path.Base(above(name, n)) }

func above(name string, n int) string {
	for range n {
		name = path.Dir(name)
	}
	return name
}

// addRecords adds the records of apps, as many as store::max_files leaves.
func (c *catalog) addRecords(ctx context.Context, records *fairshare.Queue[string, listed], s *scanner, before *catalog) {
	for records.Len() > max(0, s.cfg.MaxFiles-max(len(c.files), c.known)) {
		records.Remove(records.LargestOldest())
		c.full = true
	}
	for e := records.Oldest(); e != nil && ctx.Err() == nil; e = e.Newer() {
		f := s.readRecord(e.Tenant(), e.Value, before)
		c.files[f.path] = f
		c.known += len(f.bundles)
		own := c.apps[f.app]
		if own == nil {
			own = new(newScope())
			c.apps[f.app] = own
		}
		for _, b := range f.bundles {
			own.add(b)
		}
	}
	for _, f := range c.files {
		for _, upload := range f.uploads {
			if u := c.files[upload]; u != nil && len(u.bundles) == 1 {
				addFirst(c.apps[f.app].builds, f.build, u.bundles[0])
			}
		}
	}
}

// readRecord returns the result of the last scan for a record, unless the file has changed.
func (s *scanner) readRecord(app string, l listed, before *catalog) *file {
	known := before.files[l.name]
	if known != nil && known.modified.Equal(l.info.ModTime()) && known.size == l.info.Size() {
		return known
	}
	f := &file{path: l.name, modified: l.info.ModTime(), size: l.info.Size(), app: app}
	content, err := s.root.Open(l.name)
	if err != nil {
		return f
	}
	defer content.Close()
	var r record
	if err := json.NewDecoder(io.LimitReader(content, maxRecord)).Decode(&r); err != nil {
		return f
	}
	switch {
	case folder(f.path, 3) == "builds":
		f.readBuild(&r)
	case folder(f.path, 2) == "debug-ids":
		f.readUpload(&r, above(f.path, 4), strings.TrimSuffix(folder(f.path, 1)+path.Base(f.path), ".json"))
	case r.Type == typeProguard: // found by its build
		f.readUpload(&r, above(f.path, 3), "")
	}
	return f
}

// readBuild sets the build of a file.
func (f *file) readBuild(r *record) {
	service, err := url.PathUnescape(f.app)
	if err != nil {
		return
	}
	f.build = symbolicate.BuildID(service, r.Version, r.Code)
	for _, upload := range r.Files {
		if upload.Type == typeProguard {
			f.uploads = append(f.uploads, path.Join(above(f.path, 4), "mappings", upload.ID+".json"))
		}
	}
}

// readUpload sets the bundle of an upload with a debug ID.
func (f *file) readUpload(r *record, builds, id string) {
	b := &bundle{file: f, source: path.Join(builds, path.Clean("/"+r.File))}
	switch r.Type {
	case typeProguard:
		b.kind = mapping
		b.id, _ = uuid.Parse(id)
	case typeDSYM:
		b.kind, b.object = object, native.Object{Format: native.MachO, ID: strings.ToLower(id), Debug: true}
	case typeELF:
		b.kind, b.object = object, native.Object{Format: native.ELF, ID: strings.ToLower(id), Debug: true}
	default:
		return
	}
	f.bundles = []*bundle{b}
}
