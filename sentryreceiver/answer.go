// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// answer is what a client gets to read, in Sentry's form: {"id":"…"} or {} for what was taken, {"detail":"…","causes":[…]}
// for what was not.
type answer struct {
	status int
	limits []sentry.RateLimit

	ID     string   `json:"id,omitempty"` // event id, 32 hex digits
	Detail string   `json:"detail,omitempty"`
	Causes []string `json:"causes,omitempty"`
}

func (a answer) write(w http.ResponseWriter) {
	a.writeLimits(w)
	writeJSON(w, a.status, a)
}

func (a answer) writeLimits(w http.ResponseWriter) {
	if limits := sentry.FormatRateLimits(a.limits...); limits != "" {
		w.Header().Set(sentry.HeaderRateLimits, limits)
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // plain structs of text
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // if the client is gone, there is nobody left to tell
}

// refusal is the error of a request of which nothing is taken.
type refusal struct {
	status int
	reason string // metric attribute
	detail string // what could not be done, for people
	cause  string // why; "" if detail says it all
}

func (r *refusal) Error() string {
	if r.cause == "" {
		return r.detail
	}
	return r.detail + ": " + r.cause
}

func (r *refusal) answer() answer {
	a := answer{status: r.status, Detail: r.detail}
	if r.cause != "" {
		a.Causes = []string{r.cause}
	}
	return a
}

// Reasons for which a request is refused. Those for its credentials and for the form of its envelope are internal/format/sentry's.
const (
	reasonShuttingDown        = "shutting_down"
	reasonNotFound            = "not_found"
	reasonMethodNotAllowed    = "method_not_allowed"
	reasonUnauthorized        = "unauthorized" // by the authenticator extension of the collector's configuration
	reasonUnsupportedEncoding = "unsupported_encoding"
	reasonBodyUnreadable      = "body_unreadable"
	reasonBodyTooSlow         = "body_too_slow"
	reasonBodyUndecodable     = "body_undecodable"
	reasonBodyTooLarge        = "body_too_large"
	reasonBodyInvalid         = "body_invalid"    // where no envelope is expected: no event, report or check-in
	reasonBytesInFlight       = "bytes_in_flight" // no room for one more body; also the reason in the rate limit
)

func invalidBody(detail string, cause error) *refusal {
	return &refusal{http.StatusBadRequest, reasonBodyInvalid, detail, cause.Error()}
}

// errBusy is the refusal of a request for which there is no room. The answer carries a rate limit, see refuse.
var errBusy = &refusal{http.StatusTooManyRequests, reasonBytesInFlight, "the collector is busy, nothing was read",
	httpbody.ErrNoRoom.Error()}

// bodyRefusal is the refusal of a body that could not be read or decoded; reason and detail are for what the client did wrong.
func bodyRefusal(err error, reason, detail string, limit int64) *refusal {
	switch {
	case errors.Is(err, httpbody.ErrNoRoom):
		return errBusy
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{http.StatusRequestTimeout, reasonBodyTooSlow, "the body comes too slowly", ""}
	case errors.Is(err, httpbody.ErrTooLarge):
		return &refusal{http.StatusRequestEntityTooLarge, reasonBodyTooLarge, "envelope exceeds the size limit",
			fmt.Sprintf("the body has more than %d bytes, compressed or decompressed", limit)}
	}
	return &refusal{http.StatusBadRequest, reason, detail, err.Error()}
}

var errShuttingDown = &refusal{http.StatusServiceUnavailable, reasonShuttingDown, "the collector is shutting down", ""}

// refusalOf gives the refusal of a request for an error from internal/format/sentry, or one that is a refusal already.
func refusalOf(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	if auth, ok := errors.AsType[*sentry.AuthError](err); ok {
		return &refusal{authStatus(auth.Reason), string(auth.Reason), "envelope submission rejected", auth.Detail}
	}
	if framing, ok := errors.AsType[*sentry.EnvelopeError](err); ok {
		return &refusal{http.StatusBadRequest, string(framing.Reason), "invalid envelope", framing.Error()}
	}
	return &refusal{http.StatusBadRequest, "invalid", "invalid request", err.Error()}
}

// authStatus is Relay's: 401 when it is not known who sends, 400 when that makes no sense.
func authStatus(reason discard.Reason) int {
	switch reason {
	case sentry.ReasonAuthMissing, sentry.ReasonAuthMultiple, sentry.ReasonAuthBadEnvelopeDSN:
		return http.StatusUnauthorized
	}
	return http.StatusBadRequest
}
