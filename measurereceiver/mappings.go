// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/debugid"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// A mapping file is stored once, under the hash of its content. Two kinds of small files refer to
// it, each with a mappingRecord: one for the build that announced it, and one per debug ID, which
// is never replaced. Because every copy of an app contains its key, this key must not allow
// replacing the symbols of builds. The record of a build can therefore be replaced only if builds
// have their own keys. The times of records state which one was the first: an upload of the same
// file keeps them.

// mappingRecord describes an uploaded mapping file.
type mappingRecord struct {
	Type     measure.FileType `json:"type"`
	File     string           `json:"file"` // in the directory
	Size     int64            `json:"size"`
	SHA256   string           `json:"sha256"`
	DebugIDs []string         `json:"debug_ids,omitempty"`
}

// maxMappingRecord is the maximum size of a record. A dSYM archive with the maximum number of IDs
// reaches it.
const maxMappingRecord = 64 << 10

// maxBuildFiles is the maximum number of files of all apps: the symbolicate processor searches the
// directory every 30 seconds.
const maxBuildFiles = 50_000

func uploadName(a *app, id uuid.UUID) string { return fmt.Sprintf("%s/uploads/%s", a.folder, id) }
func mappingName(a *app, id uuid.UUID) string {
	return fmt.Sprintf("%s/mappings/%s.json", a.folder, id)
}
func contentName(a *app, sha256 string) string {
	return fmt.Sprintf("%s/files/%s/%s", a.folder, sha256[:2], sha256)
}

// debugIDName returns the name of the record of a debug ID, in the layout of symbol servers. UUIDs
// of ProGuard are next to those of binaries.
func debugIDName(a *app, id string) string {
	return fmt.Sprintf("%s/debug-ids/%s/%s.json", a.folder, id[:2], id[2:])
}

// storeMapping stores a mapping file by its build and by its debug IDs. A file without readable
// debug IDs is stored by build only, and identified is false; JavaScript bundles have none.
func (r *measureReceiver) storeMapping(ctx context.Context, a *app, t ticket, body io.Reader) (stored filestore.File, identified bool, err error) {
	upload := uploadName(a, t.id)
	if stored, err = r.builds.Save(upload, body, r.cfg.Builds.MaxSize); err != nil {
		return stored, false, err
	}
	ids, identifyErr := identify(ctx, r.builds, upload, t.fileType)
	if err := ctx.Err(); err != nil {
		_ = r.builds.Remove(upload)
		return stored, false, err // the client repeats the upload
	}
	if identifyErr != nil {
		r.logger.Warn("Stored a mapping file by its build only: it has no readable debug ID",
			zap.String("type", string(t.fileType)), zap.Stringer("mapping", t.id), zap.Error(identifyErr))
	}
	content := contentName(a, stored.SHA256)
	stored.Path = path.Join(r.builds.Directory, content)
	record, err := json.Marshal(mappingRecord{t.fileType, content, stored.Size, stored.SHA256, ids})
	if err != nil {
		panic(err) // strings and numbers have no errors
	}
	r.records.Lock()
	defer r.records.Unlock()
	before, found := recordOf(r.builds, mappingName(a, t.id))
	switch {
	case found && before.SHA256 == stored.SHA256:
		_ = r.builds.Remove(upload)
	case found && !r.apps.mayOverwrite():
		_ = r.builds.Remove(upload)
		return stored, false, errOverwrite
	default:
		if err := r.builds.Move(upload, content); err != nil {
			return stored, false, err
		}
		if _, err := r.builds.Save(mappingName(a, t.id), bytes.NewReader(record), maxMappingRecord); err != nil {
			return stored, false, err
		}
	}
	for _, id := range ids {
		name := debugIDName(a, id)
		if _, found := recordOf(r.builds, name); !found {
			if _, err := r.builds.Save(name, bytes.NewReader(record), maxMappingRecord); err != nil {
				return stored, false, err
			}
		}
	}
	return stored, identifyErr == nil, nil
}

// identify returns the debug IDs in a file, unless the client disconnects: an archive may expand to
// gigabytes.
func identify(ctx context.Context, s *filestore.Store, name string, fileType measure.FileType) ([]string, error) {
	file, err := s.Root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var id string
	switch fileType {
	case measure.FileProguard:
		id, err = debugid.ProGuard(filestore.WhileConnected(ctx, file))
	case measure.FileELFDebug:
		id, err = debugid.ELF(file)
	case measure.FileDSYM:
		return debugid.DSYM(filestore.WhileConnected(ctx, file))
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []string{id}, nil
}

// recordOf returns the record with a name. found is false if the file of the record was removed.
func recordOf(s *filestore.Store, name string) (r mappingRecord, found bool) {
	text, err := s.Root.ReadFile(name)
	if err != nil || json.Unmarshal(text, &r) != nil {
		return mappingRecord{}, false
	}
	_, err = s.Root.Stat(r.File)
	return r, !errors.Is(err, os.ErrNotExist)
}
