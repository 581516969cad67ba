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
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/frommeasure"
)

// ingestion is the work on one batch: translate, deliver, answer.
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

// serveEvents is the way of a batch through the receiver. The order of the checks is that of Measure's backend.
func (r *measureReceiver) serveEvents(w http.ResponseWriter, req *http.Request) {
	claim := r.inFlight.Claim(req.Context())
	defer claim.Release() // not before the deliveries are done: what is made of a body is larger than the body
	in, id, why := r.openBatch(req, claim)
	r.timeToAnswer(w)
	if why != nil {
		r.refuse(w, req, why)
		return
	}
	attempt, err := r.batches.TryBegin(id)
	switch {
	case err != nil:
		r.telemetry.batchRepeated(req.Context(), "in_progress")
		r.refuse(w, req, &refusal{http.StatusServiceUnavailable, reasonInProgress, "a request with this msr-req-id is in progress", ""})
		return
	case attempt.Seen[0]:
		r.telemetry.batchRepeated(req.Context(), "known")
		_ = in.batch.Validate(r.cfg.Validation) // for its attachments; it is not judged again
		in.answer(w, "accepted, known event request")
		return
	}
	if why := in.attempt(req.Context(), attempt); why != nil {
		r.refuse(w, req, why)
		return
	}
	in.answer(w, "accepted")
}

// attempt ingests a batch that is new, or of which some signals were delivered before. Delivered signals are remembered even if the
// client has disconnected.
func (in *ingestion) attempt(ctx context.Context, attempt *dedup.Attempt) *refusal {
	delivered, why := in.ingest(ctx, signals(attempt.Parts))
	accepted := dedup.Parts(delivered)
	if why == nil {
		accepted = dedup.All
	}
	if err := attempt.Finish(context.WithoutCancel(ctx), accepted); err != nil {
		in.logger.Warn("Cannot store the ID of an accepted batch: it is accepted again after a restart", zap.Error(err))
	}
	return why
}

// openBatch reads a request up to where it is known whether it came before.
func (r *measureReceiver) openBatch(req *http.Request, claim *httpbody.Claim) (in *ingestion, id dedup.ID, why *refusal) {
	app, why := r.apps.authenticate(req)
	if why != nil {
		return nil, id, why
	}
	requestID, err := uuid.Parse(req.Header.Get("msr-req-id"))
	if err != nil {
		return nil, id, &refusal{http.StatusBadRequest, reasonRequestID, "msr-req-id must be a UUID", ""}
	}
	publicURL, why := r.publicURL(req)
	if why != nil {
		return nil, id, why
	}
	if r.refusesAll() {
		return nil, id, busy(reasonBackpressure)
	}
	claim.SetTenant(app.tenant())
	body, why := r.readBody(req, claim)
	if why != nil {
		return nil, id, why
	}
	defer body.Release() // what is decoded are copies
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
	case errors.Is(err, httpbody.ErrNoRoom):
		return nil, id, busy(reasonBytesInFlight)
	case err != nil:
		return nil, id, &refusal{http.StatusBadRequest, reasonBodyInvalid, "failed to parse event request payload", err.Error()}
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

// ingest validates and hands on. delivered are the signals that have been handed on when the batch came before; what comes
// back are those and the ones since. A refusal means that the batch is to come again, or that none of it can be used.
func (in *ingestion) ingest(ctx context.Context, delivered signals) (signals, *refusal) {
	err := in.batch.Validate(in.cfg.Validation)
	if delivered == 0 {
		in.telemetry.batchRead(ctx, in.batch)
	}
	if err != nil {
		return delivered, &refusal{http.StatusBadRequest, reasonBatchInvalid, "failed to validate event request payload", err.Error()}
	}
	for _, d := range in.deliveries() {
		if delivered&d.signal != 0 {
			continue
		}
		o, reason := in.handOn(ctx, d)
		in.count(ctx, d, o, reason)
		if o == outcomeRefused {
			return delivered, busy(reason)
		}
		delivered |= d.signal
	}
	in.announce(ctx)
	return delivered, in.takeBlobs(ctx)
}

// delivery is what goes to the pipeline of one signal.
type delivery struct {
	signal    signals
	labels    map[string]int // of items
	empty     map[string]int // of items that gave nothing
	translate func() send    // nil = no pipeline, or no items
}

// send hands on what was translated. nil = there is nothing.
type send func(context.Context) error

// deliveries puts crashes first: should the pipelines refuse what comes after, they are through.
func (in *ingestion) deliveries() []delivery {
	logs := delivery{signal: signalLogs, labels: map[string]int{}}
	traces := delivery{signal: signalTraces, labels: map[string]int{}}
	metrics := delivery{signal: signalMetrics, labels: map[string]int{}, empty: map[string]int{}}
	points := false
	for i := range in.batch.Events {
		e := &in.batch.Events[i]
		switch frommeasure.SignalOf(e) {
		case frommeasure.MeasureLog:
			logs.labels[e.Label()]++
		case frommeasure.MeasureSpan:
			traces.labels[e.Label()]++
		case frommeasure.MeasureMetric:
			metrics.labels[e.Label()]++
		}
		points = points || e.Type == measure.TypeLowMemory
	}
	if n := len(in.batch.Spans); n > 0 {
		traces.labels[measure.LabelSpan] = n
	}
	if in.nextLogs != nil && len(logs.labels) > 0 {
		logs.translate = func() send { return in.sendLogs(frommeasure.ToLogs(in.batch.Events, in.source)) }
	}
	if in.nextTraces != nil && len(traces.labels) > 0 {
		traces.translate = func() send {
			return in.sendTraces(frommeasure.ToTraces(in.batch.Spans, in.batch.Events, in.source))
		}
	}
	if in.nextMetrics != nil && (points || len(metrics.labels) > 0) {
		metrics.translate = func() send {
			data, empty := frommeasure.ToMetrics(in.batch.Events, in.source)
			for _, e := range empty {
				metrics.labels[e.Label()]--
				metrics.empty[e.Label()]++
			}
			if data.DataPointCount() == 0 {
				return nil
			}
			return in.sendMetrics(data)
		}
	}
	return []delivery{logs, traces, metrics}
}

func (r *measureReceiver) handOn(ctx context.Context, d delivery) (outcome, string) {
	if d.translate == nil {
		return outcomeIgnored, ""
	}
	if r.server.Closed.Load() { // the consumers may be gone already
		return outcomeRefused, reasonShuttingDown
	}
	if !r.gates[d.signal].Allow(r.now()) {
		return outcomeRefused, reasonBackpressure
	}
	send := d.translate()
	if send == nil {
		r.gates[d.signal].Abandon(r.now())
		return outcomeIgnored, ""
	}
	err := send(ctx)
	r.gates[d.signal].Report(ctx, err, r.now())
	switch {
	case err == nil:
		return outcomeAccepted, ""
	case pipeline.IsPermanent(err): // to refuse it would bring it back for ever
		r.logger.Warn("Items rejected by the pipeline", zap.Error(err))
		return outcomeRejected, reasonPipeline
	default:
		r.logger.Warn("Items refused by the pipeline for now", zap.Error(err))
		return outcomeRefused, reasonBackpressure
	}
}

func (in *ingestion) count(ctx context.Context, d delivery, o outcome, reason string) {
	for label, n := range d.labels {
		if n > 0 {
			in.telemetry.itemsDone(ctx, label, o, reason, n)
		}
	}
	for label, n := range d.empty {
		if o != outcomeRefused { // then it comes again
			in.telemetry.itemsDone(ctx, label, outcomeDiscarded, reasonNoPoint, n)
		}
	}
}

// answer tells the SDK where to put the attachments. As JSON, there must be nothing else in it.
func (in *ingestion) answer(w http.ResponseWriter, word string) {
	if in.multipart {
		writeJSON(w, http.StatusAccepted, done{word})
		return
	}
	writeJSON(w, http.StatusOK, measure.EventsResponse{Attachments: in.uploads()})
}

// takeBlobs stores the files that came with the batch: parts of a form, or base64 in the JSON of iOS before 0.6.
func (in *ingestion) takeBlobs(ctx context.Context) *refusal {
	blobs := map[uuid.UUID][]byte{}
	for i := range in.blobs {
		blobs[in.blobs[i].ID.UUID] = in.blobs[i].Content
	}
	for _, a := range in.batch.Announced() {
		content, came := blobs[a.ID.UUID]
		if !came && a.Bytes != "" {
			var err error
			if content, err = base64.StdEncoding.DecodeString(a.Bytes); err != nil {
				in.telemetry.fileDone(ctx, measure.FileType(a.Type), outcomeDiscarded, 0)
				continue
			}
			came = true
		}
		if !came {
			continue
		}
		t := in.ticket(a)
		if why := in.takeFile(ctx, in.app, t, a.Name, "", bytes.NewReader(content)); why != nil && why.status == http.StatusServiceUnavailable {
			return why
		}
	}
	return nil
}
