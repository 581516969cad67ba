// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/frommeasure"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// ingestion processes one batch: it translates, delivers and responds.
type ingestion struct {
	*measureReceiver
	app       *app
	batch     *measure.Batch
	blobs     []measure.Blob
	multipart bool
	source    frommeasure.Source
	received  time.Time
	publicURL string
}

// serveEvents processes a batch. The order of the checks is that of Measure's backend.
func (r *measureReceiver) serveEvents(w http.ResponseWriter, req *http.Request) {
	claim := r.inFlight.Claim(req.Context())
	defer claim.Release() // after the deliveries: the translation may be larger than the body
	in, id, why := r.openBatch(req, claim)
	r.startWriteTimeout(w)
	if why != nil {
		r.reject(w, req, why)
		return
	}
	attempt, err := r.batches.TryBegin(id)
	switch {
	case err != nil:
		r.telemetry.batchRepeated(req.Context(), "in_progress")
		r.reject(w, req, &rejection{status: http.StatusServiceUnavailable, reason: reasonInProgress, err: "a request with this msr-req-id is in progress"})
		return
	case attempt.Seen[0]:
		r.telemetry.batchRepeated(req.Context(), "known")
		_ = in.batch.Validate(r.cfg.Validation) // for its attachments; the result does not matter
		in.respond(w, "accepted, known event request")
		return
	}
	if why := in.attempt(in.app.context(req.Context()), attempt); why != nil {
		r.reject(w, req, why)
		return
	}
	in.respond(w, "accepted")
}

// attempt ingests a batch that is new or was delivered only in part. It stores which signals were
// delivered even if the client has disconnected.
func (in *ingestion) attempt(ctx context.Context, attempt *dedup.Attempt) *rejection {
	accepted, why := in.ingest(ctx, attempt.Parts)
	if why == nil {
		accepted = dedup.All
	}
	if err := attempt.Finish(context.WithoutCancel(ctx), accepted); err != nil {
		in.logger.Warn("Cannot store the ID of an accepted batch: duplicates are accepted after a restart", zap.Error(err))
	}
	return why
}

// openBatch reads the batch of a request and its ID.
func (r *measureReceiver) openBatch(req *http.Request, claim *httpbody.Claim) (in *ingestion, id dedup.ID, why *rejection) {
	app, why := r.apps.authenticate(req)
	if why != nil {
		return nil, id, why
	}
	requestID, err := uuid.Parse(req.Header.Get("msr-req-id"))
	if err != nil {
		return nil, id, &rejection{status: http.StatusBadRequest, reason: reasonRequestID, err: "msr-req-id must be a UUID"}
	}
	publicURL, why := r.publicURL(req)
	if why != nil {
		return nil, id, why
	}
	if r.pipelines.AllBusy() {
		return nil, id, busy(pipeline.ReasonBackpressure)
	}
	claim.SetTenant(app.tenant())
	body, why := r.readBody(req, claim)
	if why != nil {
		return nil, id, why
	}
	defer body.Release() // decoded values are copies
	in = &ingestion{measureReceiver: r, app: app, received: time.Now(), publicURL: publicURL}
	in.source = r.source(app, in.received)
	in.source.ClientAddress = r.clientAddress(req)
	if kind := req.Header.Get("Content-Type"); strings.HasPrefix(kind, "application/json") {
		in.batch, err = measure.DecodeJSON(body.Data, r.reserve(claim, body))
	} else {
		in.multipart = true
		in.batch, in.blobs, err = decodeMultipart(body.Data, kind, r.reserve(claim, body))
	}
	switch {
	case errors.Is(err, httpbody.ErrNoMemory):
		return nil, id, busy(reasonBytesInFlight)
	case err != nil:
		return nil, id, &rejection{status: http.StatusBadRequest, reason: reasonBodyInvalid, err: "failed to parse event request payload", details: err.Error()}
	}
	return in, app.dedupID(requestID), nil
}

func (r *measureReceiver) source(a *app, now time.Time) frommeasure.Source {
	return frommeasure.Source{
		ServiceName:      a.serviceName,
		Environment:      a.environment,
		ReceivedNano:     uint64(now.UnixNano()),
		UserPrefix:       r.cfg.UserAttributePrefix,
		HTTPBodies:       r.cfg.IncludeHTTPBodies,
		SessionOnMetrics: r.cfg.MetricsSessionID,
	}
}

func decodeMultipart(body []byte, contentType string, reserve func(int64) error) (*measure.Batch, []measure.Blob, error) {
	_, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || parameters["boundary"] == "" {
		return nil, nil, errors.New("the content type must be application/json, or a multipart form with its boundary")
	}
	return measure.DecodeMultipart(body, parameters["boundary"], reserve)
}

// ingest validates and delivers a batch. delivered contains the signals that were delivered before;
// the result adds those that are delivered now. A rejection makes the SDK resend the batch, or
// states that no part of it is usable.
func (in *ingestion) ingest(ctx context.Context, delivered dedup.Parts) (dedup.Parts, *rejection) {
	err := in.batch.Validate(in.cfg.Validation)
	if delivered == 0 {
		in.telemetry.batchRead(ctx, in.batch)
	}
	if err != nil {
		return delivered, &rejection{status: http.StatusBadRequest, reason: reasonBatchInvalid, err: "failed to validate event request payload", details: err.Error()}
	}
	for _, d := range in.deliveries() {
		if delivered&d.part() != 0 {
			continue
		}
		o, reason := in.deliver(ctx, &d)
		in.count(ctx, &d, o, reason)
		if o == pipeline.Refused {
			return delivered, busy(reason)
		}
		delivered |= d.part()
	}
	in.announce(ctx)
	return delivered, in.storeBlobs(ctx)
}

// delivery is the data of a batch for one signal.
type delivery struct {
	signal    pipeline.Signal
	labels    map[string]int                       // of items
	empty     map[string]int                       // of items without output
	translate func() (m pipeline.Message, ok bool) // nil if there are no items; not ok if there is no output
}

// part returns the delivery as a part of its batch.
func (d *delivery) part() dedup.Parts { return 1 << d.signal }

// deliveries returns the deliveries of a batch. Crashes come first, so that they are delivered even
// if the pipelines refuse the rest.
func (in *ingestion) deliveries() []delivery {
	logs := delivery{signal: pipeline.SignalLogs, labels: map[string]int{}}
	traces := delivery{signal: pipeline.SignalTraces, labels: map[string]int{}}
	metrics := delivery{signal: pipeline.SignalMetrics, labels: map[string]int{}, empty: map[string]int{}}
	points := false
	for i := range in.batch.Events {
		e := &in.batch.Events[i]
		switch frommeasure.SignalOf(e) {
		case frommeasure.SignalLogs:
			logs.labels[e.Label()]++
		case frommeasure.SignalTraces:
			traces.labels[e.Label()]++
		case frommeasure.SignalMetrics:
			metrics.labels[e.Label()]++
		}
		points = points || e.Type == measure.TypeLowMemory
	}
	if n := len(in.batch.Spans); n > 0 {
		traces.labels[measure.LabelSpan] = n
	}
	if len(logs.labels) > 0 {
		logs.translate = func() (pipeline.Message, bool) {
			return pipeline.Logs(frommeasure.ToLogs(in.batch.Events, in.source)), true
		}
	}
	if len(traces.labels) > 0 {
		traces.translate = func() (pipeline.Message, bool) {
			return pipeline.Traces(frommeasure.ToTraces(in.batch.Spans, in.batch.Events, in.source)), true
		}
	}
	if points || len(metrics.labels) > 0 {
		metrics.translate = func() (pipeline.Message, bool) {
			data, empty := frommeasure.ToMetrics(in.batch.Events, in.source)
			for _, e := range empty {
				metrics.labels[e.Label()]--
				metrics.empty[e.Label()]++
			}
			return pipeline.Metrics(data), data.DataPointCount() > 0
		}
	}
	return []delivery{logs, traces, metrics}
}

// deliver translates and sends the data of one signal, if it has a pipeline. Permanently rejected
// data counts as delivered; otherwise, the SDK would resend it forever.
func (r *measureReceiver) deliver(ctx context.Context, d *delivery) (pipeline.Outcome, string) {
	if d.translate == nil {
		return pipeline.Ignored, ""
	}
	if !r.pipelines.Has(d.signal) {
		return pipeline.Ignored, pipeline.ReasonNoPipeline
	}
	if !r.pipelines.Allow(d.signal) {
		return pipeline.Refused, pipeline.ReasonBackpressure
	}
	message, ok := d.translate()
	if !ok {
		r.pipelines.Abandon(d.signal)
		return pipeline.Ignored, ""
	}
	return r.pipelines.Send(ctx, message)
}

// deliverLogs sends a log record. A rejection makes the SDK resend the data.
func (r *measureReceiver) deliverLogs(ctx context.Context, translate func() plog.Logs) *rejection {
	d := delivery{signal: pipeline.SignalLogs, translate: func() (pipeline.Message, bool) { return pipeline.Logs(translate()), true }}
	if o, reason := r.deliver(ctx, &d); o == pipeline.Refused {
		return busy(reason)
	}
	return nil
}

func (in *ingestion) count(ctx context.Context, d *delivery, o pipeline.Outcome, reason string) {
	for label, n := range d.labels {
		if n > 0 {
			in.telemetry.itemsDone(ctx, label, o, reason, n)
		}
	}
	for label, n := range d.empty {
		if o != pipeline.Refused { // otherwise, the SDK resends the batch
			in.telemetry.itemsDone(ctx, label, pipeline.Discarded, reasonNoPoint, n)
		}
	}
}

// respond returns the upload URLs of the attachments to the SDK. The response must not have other
// fields.
func (in *ingestion) respond(w http.ResponseWriter, word string) {
	if in.multipart {
		writeJSON(w, http.StatusAccepted, done{word})
		return
	}
	writeJSON(w, http.StatusOK, measure.EventsResponse{Attachments: in.uploads()})
}

// storeBlobs stores the files in the batch: parts of a form, or base64 in the JSON of iOS before
// 0.6.
func (in *ingestion) storeBlobs(ctx context.Context) *rejection {
	blobs := map[uuid.UUID][]byte{}
	for i := range in.blobs {
		blobs[in.blobs[i].ID.UUID] = in.blobs[i].Content
	}
	for _, a := range in.batch.Announced() {
		content, came := blobs[a.ID.UUID]
		if !came && a.Bytes != "" {
			var err error
			if content, err = base64.StdEncoding.DecodeString(a.Bytes); err != nil {
				in.telemetry.fileDone(ctx, measure.FileType(a.Type), pipeline.Discarded, 0)
				continue
			}
			came = true
		}
		if !came {
			continue
		}
		t := in.ticket(a)
		if why := in.receiveFile(ctx, in.app, t, a.Name, "", bytes.NewReader(content)); why != nil && why.status == http.StatusServiceUnavailable {
			return why
		}
	}
	return nil
}
