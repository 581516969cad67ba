// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/debugid"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/measure"
)

// A mapping file is stored once, by its content. Two kinds of small files name it, both with a mappingRecord: that of the build
// that announced it, and those of its debug ids, where the first stays. Keys of apps are in every copy of the app: whoever has one
// must not exchange the symbols that builds are read with, so the record of a build is replaced only if builds have keys of their
// own.

// mappingRecord says what an uploaded mapping file is, and where.
type mappingRecord struct {
	Type     measure.FileType `json:"type"`
	File     string           `json:"file"` // below the directory
	Size     int64            `json:"size"`
	SHA256   string           `json:"sha256"`
	DebugIDs []string         `json:"debug_ids,omitempty"`
}

// maxMappingRecord is that of a dSYM archive with all the ids it may have.
const maxMappingRecord = 64 << 10

func uploadName(a *app, id uuid.UUID) string { return fmt.Sprintf("%s/uploads/%s", a.folder, id) }
func mappingName(a *app, id uuid.UUID) string {
	return fmt.Sprintf("%s/mappings/%s.json", a.folder, id)
}
func contentName(a *app, sha256 string) string {
	return fmt.Sprintf("%s/files/%s/%s", a.folder, sha256[:2], sha256)
}

// debugIDName is laid out as symbol servers are. ProGuard's UUIDs stand beside those of binaries.
func debugIDName(a *app, id string) string {
	return fmt.Sprintf("%s/debug-ids/%s/%s.json", a.folder, id[:2], id[2:])
}

// storeMapping stores a mapping file by its build, and by the debug ids in it. One in which none can be read is stored by build
// only, and identified is false; bundles of JavaScript have none.
func (r *measureReceiver) storeMapping(a *app, t ticket, body io.Reader) (stored storedFile, identified bool, err error) {
	upload := uploadName(a, t.id)
	if stored, err = r.builds.save(upload, body, r.cfg.Builds.MaxSize); err != nil {
		return stored, false, err
	}
	ids, identifyErr := r.builds.identify(upload, t.fileType)
	if identifyErr != nil {
		r.logger.Warn("A mapping file without a debug id that could be read is stored by its build only",
			zap.String("type", string(t.fileType)), zap.Stringer("mapping", t.id), zap.Error(identifyErr))
	}
	content := contentName(a, stored.sha256)
	if before, found := r.builds.record(mappingName(a, t.id)); found && !r.apps.mayOverwrite() && before.SHA256 != stored.sha256 {
		_ = r.builds.remove(upload)
		return stored, false, errOverwrite
	}
	if err := r.builds.move(upload, content); err != nil {
		return stored, false, err
	}
	stored.path = path.Join(r.builds.directory, content)
	record, err := json.Marshal(mappingRecord{t.fileType, content, stored.size, stored.sha256, ids})
	if err != nil {
		panic(err) // plain texts and numbers
	}
	if _, err := r.builds.save(mappingName(a, t.id), bytes.NewReader(record), maxMappingRecord); err != nil {
		return stored, false, err
	}
	for _, id := range ids {
		name := debugIDName(a, id)
		if _, found := r.builds.record(name); !found {
			if _, err := r.builds.save(name, bytes.NewReader(record), maxMappingRecord); err != nil {
				return stored, false, err
			}
		}
	}
	return stored, identifyErr == nil, nil
}

// identify gives the debug ids in a file.
func (s *fileStore) identify(name string, fileType measure.FileType) ([]string, error) {
	file, err := s.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var id string
	switch fileType {
	case measure.FileProguard:
		id, err = debugid.ProGuard(file)
	case measure.FileELFDebug:
		id, err = debugid.ELF(file)
	case measure.FileDSYM:
		return debugid.DSYM(file)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []string{id}, nil
}

// record reads the record of that name. It is not found if the file that it names has been swept.
func (s *fileStore) record(name string) (r mappingRecord, found bool) {
	text, err := s.root.ReadFile(name)
	if err != nil || json.Unmarshal(text, &r) != nil {
		return mappingRecord{}, false
	}
	_, err = s.root.Stat(r.File)
	return r, !errors.Is(err, os.ErrNotExist)
}
