// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// response is the response to a client, in Sentry's format: {"id":"…"} or {} for accepted data,
// {"detail":"…","causes":[…]} for an error.
type response struct {
	status int
	limits []sentry.RateLimit

	unusable *discard.Error // of an item, if nothing was accepted

	ID     string   `json:"id,omitempty"` // event ID, 32 hex digits
	Detail string   `json:"detail,omitempty"`
	Causes []string `json:"causes,omitempty"`
}

func (r response) write(w http.ResponseWriter) {
	r.writeLimits(w)
	writeJSON(w, r.status, r)
}

func (r response) writeLimits(w http.ResponseWriter) {
	if limits := sentry.FormatRateLimits(r.limits...); limits != "" {
		w.Header().Set(sentry.HeaderRateLimits, limits)
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // unreachable: the structs contain only text
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails only if the client has disconnected
}

// outcomes summarizes the items of an envelope.
type outcomes struct {
	ignored, busy, rejected bool              // an item was ignored, refused or rejected
	delivered               bool              // a pipeline accepted an item
	refused                 []pipeline.Signal // that SDKs should pause
	tooLarge                *discard.Error    // the error of the last item that was too large
	unusable                *discard.Error    // the error of the last item that was discarded
}

func (o *outcomes) add(outcome pipeline.Outcome) {
	o.ignored = o.ignored || outcome == pipeline.Ignored
	o.busy = o.busy || outcome == pipeline.Refused
	o.rejected = o.rejected || outcome == pipeline.Rejected
}

// response responds to the SDK.
//
// SDKs drop data on an error response and never resend it, so the status affects only their client
// reports. Rate limits slow SDKs down whatever the status is. A 429 always has a rate limit, and
// rate limits always list categories: otherwise SDKs would pause everything, including errors. For
// the same reason, there is no Retry-After.
//
// The response to a profile that breaks the rules is 200, as from Sentry, which validates later.
func (in *ingestion) response() response {
	limits := in.pauseSignals(in.outcomes.refused)
	switch {
	case in.outcomes.delivered || in.outcomes.ignored:
		return response{status: http.StatusOK, ID: in.eventID(), limits: limits}
	case in.outcomes.busy:
		return busyResponse(limits)
	case in.outcomes.tooLarge != nil:
		return response{status: http.StatusRequestEntityTooLarge, Detail: "envelope exceeds the size limit", Causes: []string{in.outcomes.tooLarge.Detail}}
	case in.outcomes.rejected:
		// The collector joins the errors of all exporters of a pipeline: others may have accepted
		// the data. The rules for receivers demand a failure (package receiver, "Error Handling").
		return response{status: http.StatusBadRequest, Detail: "the pipeline rejected the data permanently",
			Causes: []string{"at least one exporter cannot use the data; see the log of the collector"}}
	}
	return response{status: http.StatusOK, ID: in.eventID(), unusable: in.outcomes.unusable}
}

// typesWithEventID lists the item types for which Relay generates an event ID if the envelope has
// none (relay-server src/envelope/item.rs, creates_event and requires_event).
var typesWithEventID = []sentry.ItemType{
	sentry.ItemEvent, sentry.ItemTransaction, sentry.ItemProfile, sentry.ItemAttachment, sentry.ItemFeedback,
	sentry.ItemUserReport, sentry.ItemReplayEvent, sentry.ItemSecurity, sentry.ItemRawSecurity, sentry.ItemFormData,
	sentry.ItemUnrealReport,
}

// eventID returns the event ID for the response, or "" if it has none.
func (in *ingestion) eventID() string {
	needed := func(i sentry.Item) bool { return slices.Contains(typesWithEventID, i.Header.Type) }
	if id := in.envelope.Header.EventID; id != "" || !slices.ContainsFunc(in.envelope.Items, needed) {
		return id
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}
