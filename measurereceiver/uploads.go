// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/frommeasure"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// announce stores the attributes of the attachments of a batch.
func (in *ingestion) announce(ctx context.Context) {
	for _, a := range in.batch.Announced() {
		in.telemetry.fileDone(ctx, measure.FileType(a.Type), outcomeAnnounced, 0)
		in.announced.put(in.app.dedupID(a.ID.UUID), announced{a.Event.Attribute, a.Event.Timestamp.UnixNano, a.Name})
	}
}

func (in *ingestion) ticket(a measure.Announced) ticket {
	return ticket{
		id: a.ID.UUID, expires: in.received.Add(in.cfg.Attachments.URLTTL), fileType: measure.FileType(a.Type), app: in.app.id,
		session: a.Event.SessionID.UUID, event: a.Event.ID.UUID,
	}
}

// uploads returns the uploads of the accepted attachments that are not in the batch, or nil.
func (in *ingestion) uploads() (uploads []measure.Upload) {
	if in.attachments == nil {
		return nil
	}
	for _, a := range in.batch.Announced() {
		if a.Bytes != "" || in.cfg.Attachments.MaxSize[a.Type] == 0 {
			continue
		}
		t := in.ticket(a)
		headers := map[string]string{}
		if printable(a.Name) {
			headers[measure.HeaderFilename] = a.Name
		}
		uploads = append(uploads, in.upload(t, in.publicURL+attachmentsPath, a.Name, headers))
	}
	return uploads
}

func (r *measureReceiver) upload(t ticket, base, name string, headers map[string]string) measure.Upload {
	return measure.Upload{
		ID: t.id.String(), Type: t.fileType, Filename: name, Headers: headers,
		UploadURL: base + t.id.String() + "?t=" + t.token(r.secret),
		ExpiresAt: t.expires.UTC().Format(measure.ExpiryFormat),
	}
}

// printable reports whether a text is valid in a header.
func printable(text string) bool {
	return len(text) <= 256 && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' })
}

const (
	attachmentsPath = "/attachments/"
	symbolsPath     = "/symbols/"
)

// uploadPath parses the path of an upload.
func uploadPath(path string) (prefix, id string, is bool) {
	for _, prefix := range []string{attachmentsPath, symbolsPath} {
		if id, is := strings.CutPrefix(path, prefix); is {
			return prefix, id, true
		}
	}
	return "", "", false
}

// serveUpload receives a file. The status is 4xx if SDKs should delete the file, for instance
// because it is too large.
func (r *measureReceiver) serveUpload(w http.ResponseWriter, req *http.Request, prefix, idText string) {
	id, err := uuid.Parse(idText)
	t, ok := readToken(r.secret, id, req.URL.Query().Get("t"), time.Now())
	app := r.apps.byID[t.app]
	switch {
	case req.Method != http.MethodPut:
		w.Header().Set("Allow", http.MethodPut)
		r.reject(w, req, &rejection{status: http.StatusMethodNotAllowed, reason: reasonMethodNotAllowed, err: "method not allowed"})
		return
	case err != nil || !ok || app == nil || t.fileType.IsMapping() != (prefix == symbolsPath):
		r.reject(w, req, &rejection{status: http.StatusForbidden, reason: reasonToken, err: "the URL is invalid or has expired"})
		return
	case r.server.Stopping.Load():
		r.reject(w, req, errShuttingDown)
		return
	case !t.fileType.IsMapping() && r.pipelines.Busy(pipeline.SignalLogs):
		r.reject(w, req, busy(pipeline.ReasonBackpressure)) // else its log record would be refused after the upload
		return
	}
	if !r.uploading.acquire(app.id) {
		r.reject(w, req, &rejection{status: http.StatusServiceUnavailable, reason: reasonBusy, err: "too many concurrent uploads"})
		return
	}
	defer r.uploading.release(app.id)
	why := r.receiveFile(app.context(req.Context()), app, t, req.Header.Get(measure.HeaderFilename), req.Header.Get("Content-Encoding"), req.Body)
	r.startWriteTimeout(w)
	if why != nil {
		w.Header().Set("Connection", "close") // the rest of the body is not read
		r.reject(w, req, why)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// receiveFile stores a file, or drops it if no directory is configured, and sends a log record that
// describes it. It sends none for repeated uploads.
func (r *measureReceiver) receiveFile(ctx context.Context, a *app, t ticket, name, encoding string, body io.Reader) *rejection {
	attempt, err := r.uploaded.TryBegin(a.dedupID(t.id))
	switch {
	case err != nil:
		return &rejection{status: http.StatusServiceUnavailable, reason: reasonInProgress, err: "the file is being uploaded"}
	case attempt.Seen[0]:
		return nil
	}
	accepted := attempt.Parts
	defer func() { _ = attempt.Finish(ctx, accepted) }() // no storage, no error
	why := r.storeFile(ctx, a, t, name, encoding, body, &accepted)
	if why == nil && !t.fileType.IsMapping() {
		accepted = dedup.All
	}
	return why
}

// storeFile adds to accepted the profile that it delivers.
func (r *measureReceiver) storeFile(ctx context.Context, a *app, t ticket, name, encoding string, body io.Reader, accepted *dedup.Parts) *rejection {
	o, stored, err := outcomeStored, filestore.File{}, error(nil)
	switch limit := r.cfg.Attachments.MaxSize[string(t.fileType)]; {
	case t.fileType.IsMapping() && r.builds != nil:
		var identified bool
		if stored, identified, err = r.storeMapping(ctx, a, t, body); !identified {
			o = outcomeUnidentified
		}
	case t.fileType.IsMapping(): // disabled since the URL was created
		return &rejection{status: http.StatusNotFound, reason: reasonNotFound, err: "builds are not enabled"}
	case r.attachments != nil:
		stored, err = r.attachments.Save(attachmentName(a, t.id, time.Now()), body, limit)
	default:
		o = outcomeDropped
		stored, err = filestore.Fill(io.Discard, body, limit)
	}
	if why := fileRejection(err); why != nil {
		r.telemetry.fileDone(ctx, t.fileType, pipeline.Discarded, 0)
		r.logger.Debug("File rejected", zap.String("type", string(t.fileType)), zap.Error(err))
		return why
	}
	f, attributes := r.describe(a, t, name, encoding, stored)
	if why := r.deliverTrace(ctx, a, f, attributes, accepted); why != nil {
		return why
	}
	if why := r.deliverDescription(ctx, a, t, f, attributes); why != nil {
		return why
	}
	r.telemetry.fileDone(ctx, t.fileType, o, stored.Size)
	return nil
}

func fileRejection(err error) *rejection {
	if err == nil {
		return nil
	}
	if _, reading := errors.AsType[*filestore.ReadError](err); reading || errors.Is(err, context.Canceled) {
		return &rejection{status: http.StatusServiceUnavailable, reason: reasonBodyUnreadable, err: "the upload is incomplete"}
	}
	switch {
	case errors.Is(err, filestore.ErrTooLarge):
		return &rejection{status: http.StatusRequestEntityTooLarge, reason: reasonFileTooLarge, err: "the file exceeds the maximum size of its type"}
	case errors.Is(err, errOverwrite):
		return &rejection{status: http.StatusConflict, reason: reasonOverwrite, err: "another upload for this build is stored", details: "use another version_code, or configure builds: api_keys"}
	case errors.Is(err, filestore.ErrEmpty):
		return &rejection{status: http.StatusBadRequest, reason: reasonBodyInvalid, err: "the file is empty"}
	}
	return &rejection{status: http.StatusServiceUnavailable, reason: reasonStorage, err: "the file cannot be stored"}
}

// describe returns the metadata of a file, and the attributes of its event, or nil if they are
// unknown.
func (r *measureReceiver) describe(a *app, t ticket, name, encoding string, stored filestore.File) (f frommeasure.File, attributes *measure.Attributes) {
	f = frommeasure.File{
		ID: t.id.String(), Type: string(t.fileType), Name: name, Encoding: encoding, SHA256: stored.SHA256, Path: stored.Path, Size: stored.Size,
		ContentType: contentType(stored.Head), EventID: measure.ID{UUID: t.event}, SessionID: measure.ID{UUID: t.session},
	}
	if event, known := r.announced.get(a.dedupID(t.id)); known {
		attributes, f.EventNano, f.Name = &event.attributes, event.nano, event.name
	}
	return f, attributes
}

// deliverDescription makes a log record of an attachment.
func (r *measureReceiver) deliverDescription(ctx context.Context, a *app, t ticket, f frommeasure.File, attributes *measure.Attributes) *rejection {
	if !r.pipelines.Has(pipeline.SignalLogs) || t.fileType.IsMapping() {
		return nil
	}
	return r.deliverLogs(ctx, func() plog.Logs { return frommeasure.FileToLogs(f, attributes, r.source(a, time.Now())) })
}

// contentType returns the type of the content: some screenshots are SVG.
func contentType(head []byte) string {
	if trimmed := bytes.TrimSpace(head); bytes.HasPrefix(trimmed, []byte("<svg")) || bytes.HasPrefix(trimmed, []byte("<?xml")) && bytes.Contains(trimmed, []byte("<svg")) {
		return "image/svg+xml"
	}
	return http.DetectContentType(head)
}
