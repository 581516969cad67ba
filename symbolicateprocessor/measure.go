// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"encoding/json"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/google/uuid"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// The measure receiver stores files under their hash. Its records refer to them:
//
//	<service>/mappings/<id>.json                     an upload: type, file, debug IDs
//	<service>/builds/<version>/<code>/<type>.json    a build: the IDs of its uploads
//
// ELF files need no record, because their content has the ID.

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

	maxRecord = 1 << 20
)

// isRecord reports whether a file can be a record.
func isRecord(name string) bool {
	if strings.HasPrefix(name, uploadsFolder+"/") || strings.HasPrefix(name, downloadsFolder+"/") {
		return false
	}
	return path.Ext(name) == ".json" && (folder(name, 1) == "mappings" || folder(name, 3) == "builds")
}

// folder returns the name of the nth folder above a file.
func folder(name string, n int) string { return path.Base(above(name, n)) }

func above(name string, n int) string {
	for range n {
		name = path.Dir(name)
	}
	return name
}

// readRecord returns the bundles of an upload, or sets the build of the file.
func readRecord(f *file, content io.Reader) (bundles []*bundle) {
	var r record
	if err := json.NewDecoder(io.LimitReader(content, maxRecord)).Decode(&r); err != nil {
		return nil
	}
	if folder(f.path, 3) == "builds" {
		service, err := url.PathUnescape(folder(f.path, 4))
		for _, upload := range r.Files {
			if err == nil && upload.Type == typeProguard {
				f.build = symbolicate.BuildID(service, r.Version, r.Code)
				f.upload = path.Join(above(f.path, 4), "mappings", upload.ID+".json")
			}
		}
		return nil
	}
	source := path.Join(above(f.path, 3), path.Clean("/"+r.File))
	for _, id := range r.DebugIDs {
		switch r.Type {
		case typeProguard:
			if computed, err := uuid.Parse(id); err == nil {
				bundles = append(bundles, &bundle{kind: mapping, source: source, id: computed})
			}
		case typeDSYM:
			bundles = append(bundles, &bundle{kind: object, source: source, object: native.Object{Format: native.MachO, ID: strings.ToLower(id), Debug: true}})
		}
	}
	return bundles
}

// ofBuild returns the mapping of a build, or nil.
func (c *catalog) ofBuild(id string) *bundle {
	if f := c.files[c.builds[id]]; f != nil && len(f.bundles) == 1 {
		return f.bundles[0]
	}
	return nil
}
