// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
)

// Android, iOS and Measure's build tools keep a batch or file for another time after 429, 5xx and a broken connection, and
// delete it after any other error. So what may be taken later is 503, and what never will be is 4xx.

// The pauses of Retry-After, which SDKs of today do not read: they send again when the app starts or goes to the background.
const (
	retryBusy       = 30 * time.Second
	retryInProgress = 60 * time.Second // as Measure's backend had it
)

// rejection is the error of a request of which nothing is taken, or not all.
type rejection struct {
	status  int
	reason  string // metric attribute
	err     string // Measure's word for it
	details string // why; "" if err says it all
}

func (r *rejection) Error() string {
	if r.details == "" {
		return r.err
	}
	return r.err + ": " + r.details
}

// Reasons for which a request is refused.
const (
	reasonNotFound         = "not_found"
	reasonMethodNotAllowed = "method_not_allowed"
	reasonUnauthorized     = "unauthorized" // by the authenticator extension of the collector's configuration
	reasonKeyMissing       = "key_missing"
	reasonKeyMalformed     = "key_malformed"
	reasonKeyUnknown       = "key_unknown"
	reasonRequestID        = "request_id"
	reasonHost             = "host" // longer than a name may be
	reasonBodyUnreadable   = "body_unreadable"
	reasonBodyTooLarge     = "body_too_large"
	reasonBodyInvalid      = "body_invalid"
	reasonBatchInvalid     = "batch_invalid"   // nothing of it can be used, or not all in strict mode
	reasonBytesInFlight    = "bytes_in_flight" // no room for one more body
	reasonInProgress       = "in_progress"
	reasonToken            = "token"
	reasonFileTooLarge     = "file_too_large"
	reasonBusy             = "too_many_uploads"
	reasonStorage          = "storage"
	reasonOverwrite        = "overwrite" // of a build, without builds: api_keys
)

// busy is the refusal of what may be taken later.
func busy(reason string) *rejection {
	return &rejection{status: http.StatusServiceUnavailable, reason: reason, err: "the collector is busy"}
}

var errShuttingDown = &rejection{status: http.StatusServiceUnavailable, reason: pipeline.ReasonShuttingDown, err: "the collector is shutting down"}

// refuse answers a request of which nothing is taken, and counts it.
func (r *measureReceiver) reject(w http.ResponseWriter, req *http.Request, why *rejection) {
	r.telemetry.requestRejected(req.Context(), why.reason)
	r.logger.Debug("Request rejected", zap.Int("status", why.status), zap.String("reason", why.reason), zap.Error(why))
	if why.status == http.StatusServiceUnavailable {
		pause := retryBusy
		if why.reason == reasonInProgress {
			pause = retryInProgress
		}
		w.Header().Set("Retry-After", strconv.Itoa(int(pause/time.Second)))
	}
	writeJSON(w, why.status, struct {
		Error   string `json:"error"`
		Details string `json:"details,omitempty"`
	}{why.err, why.details})
}

// writeJSON writes without blanks: scripts of React Native search the text.
func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // plain structs of text
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // if the client is gone, there is nobody left to tell
}

// done is the answer of requests that have nothing else to say.
type done struct {
	OK string `json:"ok"`
}
