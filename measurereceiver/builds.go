// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/frommeasure"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// mappingTTL is how long build tools may upload an announced file. They usually do so immediately.
const mappingTTL = time.Hour

// maxBuildRecord is the maximum size of the stored description of a build.
const maxBuildRecord = 1 << 20

func (r *measureReceiver) serveBuild(w http.ResponseWriter, req *http.Request) {
	r.acceptBuild(w, req, false)
}

func (r *measureReceiver) serveOTABuild(w http.ResponseWriter, req *http.Request) {
	r.acceptBuild(w, req, true)
}

// acceptBuild stores the description of a build and returns the URLs for its mapping files.
func (r *measureReceiver) acceptBuild(w http.ResponseWriter, req *http.Request, overTheAir bool) {
	app, why := r.apps.authenticate(req)
	switch {
	case why != nil:
		r.reject(w, req, why)
		return
	case r.builds == nil:
		r.reject(w, req, &rejection{status: http.StatusNotFound, reason: reasonNotFound, err: "builds are not enabled"})
		return
	case !r.apps.mayBuild(configopaque.String(measure.APIKey(req.Header.Get("Authorization")))):
		r.reject(w, req, &rejection{status: http.StatusUnauthorized, reason: reasonKeyUnknown, err: "invalid api key"})
		return
	}
	publicURL, why := r.publicURL(req)
	if why != nil {
		r.reject(w, req, why)
		return
	}
	claim := r.inFlight.Claim(req.Context())
	claim.SetTenant(app.tenant())
	defer claim.Release()
	body, why := r.readBody(req, claim)
	if why != nil {
		r.reject(w, req, why)
		return
	}
	build, err := measure.DecodeBuild(body.Data, overTheAir)
	body.Release()
	if err != nil {
		r.reject(w, req, &rejection{status: http.StatusBadRequest, reason: reasonBodyInvalid, err: "failed to parse build info", details: err.Error()})
		return
	}
	uploads := r.mappingUploads(app, build, publicURL)
	if why := r.recordBuild(req, app, build, uploads); why != nil {
		r.reject(w, req, why)
		return
	}
	if len(uploads) == 0 {
		writeJSON(w, http.StatusOK, done{"build info updated"})
		return
	}
	writeJSON(w, http.StatusOK, measure.BuildResponse{Mappings: uploads})
}

// nameOfR8 is the name of R8's mapping in its identity: a build has one, whatever its name.
const nameOfR8 = "mapping.txt"

// mappingUploads returns the uploads of the mapping files of a build. Their names are stable, so
// that a second upload replaces the first, if allowed.
func (r *measureReceiver) mappingUploads(a *app, b *measure.Build, publicURL string) (uploads []measure.Upload) {
	for _, m := range b.Mappings {
		filename := m.Filename
		if m.Type == measure.FileProguard {
			filename = nameOfR8
		}
		identity, err := json.Marshal([]string{string(a.id[:]), b.VersionName, b.VersionCode, b.PatchID.String(), string(m.Type), filename})
		if err != nil {
			panic(err) // cannot fail for strings
		}
		id := uuid.NewSHA1(uuid.Nil, identity)
		t := ticket{id: id, expires: time.Now().Add(mappingTTL), fileType: m.Type, app: a.id}
		headers := map[string]string{measure.HeaderMappingID: id.String()}
		if printable(m.Filename) {
			headers[measure.HeaderFilename] = m.Filename
		}
		upload := r.upload(t, publicURL+symbolsPath, m.Filename, headers)
		upload.PatchID, upload.PatchVersion = b.PatchID.String(), b.PatchVersion
		uploads = append(uploads, upload)
	}
	return uploads
}

// buildRecord is the stored description of a build.
type buildRecord struct {
	VersionName  string        `json:"version_name,omitempty"`
	VersionCode  string        `json:"version_code,omitempty"`
	Type         string        `json:"build_type,omitempty"`
	Size         int64         `json:"build_size,omitempty"`
	PatchID      string        `json:"patch_id,omitempty"`
	PatchVersion string        `json:"patch_version,omitempty"`
	Files        []mappingFile `json:"mappings,omitempty"`
}

type mappingFile struct {
	ID       string           `json:"id"` // its record is mappings/<id>.json, after its upload
	Type     measure.FileType `json:"type"`
	Filename string           `json:"filename"`
}

// mergeInto adds the mapping files of an earlier description of the build: tools for native code,
// Dart and JavaScript each send one. It keeps the first size, unless replacement is allowed.
func (b *buildRecord) mergeInto(before []byte, overwrite bool) {
	var first buildRecord
	if json.Unmarshal(before, &first) != nil {
		return
	}
	if !overwrite {
		b.Size, b.PatchVersion = first.Size, first.PatchVersion
	}
	known := map[string]bool{}
	for _, file := range first.Files {
		known[file.ID] = true
	}
	b.Files = append(first.Files, slices.DeleteFunc(b.Files, func(f mappingFile) bool { return known[f.ID] })...)
}

// recordBuild stores the description as builds/<version>/<code>/<build type>.json or
// patches/<id>.json, and forwards a log record.
func (r *measureReceiver) recordBuild(req *http.Request, a *app, b *measure.Build, uploads []measure.Upload) *rejection {
	record := buildRecord{
		VersionName: b.VersionName, VersionCode: b.VersionCode, Type: b.Type, Size: b.Size.Value,
		PatchID: b.PatchID.String(), PatchVersion: b.PatchVersion,
	}
	for _, u := range uploads {
		record.Files = append(record.Files, mappingFile{u.ID, u.Type, u.Filename})
	}
	name := a.folder + "/patches/" + b.PatchID.String() + ".json"
	if !b.PatchID.Set() {
		version, code := safeName(b.VersionName), safeName(b.VersionCode)
		if version == "" || code == "" {
			return &rejection{status: http.StatusBadRequest, reason: reasonBodyInvalid, err: "failed to parse build info", details: "version_name and version_code must contain characters other than dots"}
		}
		name = a.folder + "/builds/" + version + "/" + code + "/" + b.Type + ".json" // a version may have both an aab and an apk
	}
	if why := r.saveBuild(name, record); why != nil {
		return why
	}
	return r.deliverLogs(a.context(req.Context()), func() plog.Logs { return frommeasure.BuildToLogs(b, r.source(a, time.Now())) })
}

// saveBuild stores the description of a build, with the mapping files of an earlier one.
func (r *measureReceiver) saveBuild(name string, record buildRecord) *rejection {
	r.records.Lock()
	defer r.records.Unlock()
	if before, err := r.builds.Read(name); err == nil {
		record.mergeInto(before, r.apps.mayOverwrite())
	}
	text, err := json.Marshal(record)
	if err != nil {
		panic(err) // cannot fail for strings and numbers
	}
	_, err = r.builds.Save(name, bytes.NewReader(text), maxBuildRecord)
	return fileRejection(err)
}
