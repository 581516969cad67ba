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

// Android, iOS and Measure's build tools resend a batch or file after 429, 5xx and broken
// connections, and delete it after any other error. The status is therefore 503 if a retry can
// succeed, otherwise 4xx.

// The pauses in Retry-After. Current SDKs ignore it and resend when the app starts or goes to the
// background.
const (
	retryBusy       = 30 * time.Second
	retryInProgress = 60 * time.Second // like Measure's backend
)

// rejection is the error of a request that is rejected completely or in part.
type rejection struct {
	status  int
	reason  string // metric attribute
	err     string // the message of Measure's backend
	details string // "" if err is sufficient
}

func (r *rejection) Error() string {
	if r.details == "" {
		return r.err
	}
	return r.err + ": " + r.details
}

// Reasons for rejected requests.
const (
	reasonNotFound         = "not_found"
	reasonMethodNotAllowed = "method_not_allowed"
	reasonUnauthorized     = "unauthorized" // by the configured authenticator extension
	reasonKeyMissing       = "key_missing"
	reasonKeyMalformed     = "key_malformed"
	reasonKeyUnknown       = "key_unknown"
	reasonRequestID        = "request_id"
	reasonHost             = "host" // too long
	reasonBodyUnreadable   = "body_unreadable"
	reasonBodyTooLarge     = "body_too_large"
	reasonBodyInvalid      = "body_invalid"
	reasonBatchInvalid     = "batch_invalid"   // no part is usable, or in strict mode not every part
	reasonBytesInFlight    = "bytes_in_flight" // the memory budget is exhausted
	reasonInProgress       = "in_progress"
	reasonToken            = "token"
	reasonFileTooLarge     = "file_too_large"
	reasonBusy             = "too_many_uploads"
	reasonStorage          = "storage"
	reasonOverwrite        = "overwrite" // of a build, without builds: api_keys
)

// busy returns the rejection of a request that may succeed later.
func busy(reason string) *rejection {
	return &rejection{status: http.StatusServiceUnavailable, reason: reason, err: "the collector is busy"}
}

var errShuttingDown = &rejection{status: http.StatusServiceUnavailable, reason: pipeline.ReasonShuttingDown, err: "the collector is shutting down"}

// reject rejects a request and counts it.
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

// writeJSON writes JSON without spaces: React Native scripts search the text.
func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // cannot fail for structs of strings
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the client disconnected
}

// done is the response without further content.
type done struct {
	OK string `json:"ok"`
}
