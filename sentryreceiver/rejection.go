// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// rejection is the error for a request that is rejected completely.
type rejection struct {
	status int
	reason string // metric attribute
	detail string // what failed, for people
	cause  string // why; "" if detail is complete
	asked  string // metric attribute of requests to unknown endpoints, see unknownEndpoint
	path   string // of these, for the log
}

func (r *rejection) Error() string {
	if r.cause == "" {
		return r.detail
	}
	return r.detail + ": " + r.cause
}

func (r *rejection) response() response {
	response := response{status: r.status, Detail: r.detail}
	if r.cause != "" {
		response.Causes = []string{r.cause}
	}
	return response
}

// Reasons for rejected requests. internal/format/sentry defines the reasons for invalid credentials
// and envelopes.
const (
	reasonNotFound            = "not_found"
	reasonMethodNotAllowed    = "method_not_allowed"
	reasonUnauthorized        = "unauthorized" // by the configured authenticator extension
	reasonUnsupportedEncoding = "unsupported_encoding"
	reasonBodyUnreadable      = "body_unreadable"
	reasonBodyTooSlow         = "body_too_slow"
	reasonBodyUndecodable     = "body_undecodable"
	reasonBodyTooLarge        = "body_too_large"
	reasonBodyInvalid         = "body_invalid"    // at endpoints without envelopes: no event, report or check-in
	reasonLoop                = "loop"            // an exporter of this collector sent it
	reasonBytesInFlight       = "bytes_in_flight" // the memory budget is exhausted; also the reason in the rate limit
)

func invalidBody(detail string, cause error) *rejection {
	return &rejection{status: http.StatusBadRequest, reason: reasonBodyInvalid, detail: detail, cause: cause.Error()}
}

// errBusy is the rejection of a request that does not fit into the memory budget. reject adds a
// rate limit to its response.
var errBusy = &rejection{status: http.StatusTooManyRequests, reason: reasonBytesInFlight, detail: "the collector is busy; the request was not read",
	cause: httpbody.ErrNoMemory.Error()}

// errLoop is the rejection of data that this collector has forwarded. The status makes exporters
// drop it, and says nothing about their key.
var errLoop = &rejection{status: http.StatusMisdirectedRequest, reason: reasonLoop, detail: "loop of collectors",
	cause: "this collector has already forwarded this data, or it was forwarded too often: the dsn of a sentry_envelope exporter must not lead back to this receiver"}

var errShuttingDown = &rejection{status: http.StatusServiceUnavailable, reason: pipeline.ReasonShuttingDown, detail: "the collector is shutting down"}

// bodyRejection returns the rejection of a body that cannot be read or decoded. reason and detail
// apply to errors of the client.
func bodyRejection(err error, reason, detail string, limit int64) *rejection {
	switch {
	case errors.Is(err, httpbody.ErrNoMemory):
		return errBusy
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &rejection{status: http.StatusRequestTimeout, reason: reasonBodyTooSlow, detail: "the body is too slow"}
	case errors.Is(err, httpbody.ErrTooLarge):
		return &rejection{status: http.StatusRequestEntityTooLarge, reason: reasonBodyTooLarge, detail: "envelope exceeds the size limit",
			cause: fmt.Sprintf("the body has more than %d bytes, compressed or decompressed", limit)}
	}
	return &rejection{status: http.StatusBadRequest, reason: reason, detail: detail, cause: err.Error()}
}

// rejectionOf returns the rejection for an error of internal/format/sentry. It returns rejections
// unchanged.
func rejectionOf(err error) *rejection {
	if r, ok := errors.AsType[*rejection](err); ok {
		return r
	}
	if auth, ok := errors.AsType[*sentry.AuthError](err); ok {
		return &rejection{status: authStatus(auth.Reason), reason: string(auth.Reason), detail: "envelope submission rejected", cause: auth.Detail}
	}
	if framing, ok := errors.AsType[*sentry.EnvelopeError](err); ok {
		return &rejection{status: http.StatusBadRequest, reason: string(framing.Reason), detail: "invalid envelope", cause: framing.Error()}
	}
	return &rejection{status: http.StatusBadRequest, reason: "invalid", detail: "invalid request", cause: err.Error()}
}

// authStatus returns Relay's status: 401 for missing or conflicting credentials, 400 for invalid
// ones.
func authStatus(reason discard.Reason) int {
	switch reason {
	case sentry.ReasonAuthMissing, sentry.ReasonAuthMultiple, sentry.ReasonAuthBadEnvelopeDSN:
		return http.StatusUnauthorized
	}
	return http.StatusBadRequest
}
