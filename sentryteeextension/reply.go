// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/health"
)

var errTarget = errors.New("the path of the request cannot be forwarded")

// verdict is the result of an attempt to forward a request.
type verdict = health.Verdict

const (
	sent    = health.Accepted
	limited = health.Limited // Sentry has counted the request as rate limited; SDKs do not resend it either
	refused = health.Refused // permanently
	failed  = health.Failed  // will be retried
	omitted = failed + 1     // completely
)

// outcomes has the names of verdicts in metrics. A failed attempt is not an outcome yet.
var outcomes = map[verdict]string{sent: "forwarded", limited: "rate_limited", refused: "refused", omitted: "omitted"}

// reply is Sentry's response, or the error if there is none.
type reply struct {
	verdict verdict
	reason  string // metric attribute; "" if accepted
	status  int    // 0 = no response
	header  http.Header
	body    []byte
	err     error // of the connection
}

// Reasons, as used in metrics. refusal returns others.
const (
	reasonNetwork    = "network_error"
	reasonServer     = "server_error"
	reasonLimited    = "rate_limited"
	reasonRedirected = "redirected"
	reasonInvalid    = "invalid_request"
)

// maxAnswer is the maximum size of a response body. Relay's responses are one line.
const maxAnswer = 64 << 10

// readReply reads a response. It drops a body that is too long or truncated.
func readReply(resp *http.Response) reply {
	defer resp.Body.Close()
	r := replyOf(resp.StatusCode)
	r.header = resp.Header
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) <= maxAnswer {
		r.body = body
	}
	return r
}

// replyOf returns the verdict for a status, and its reason.
func replyOf(status int) reply {
	r := reply{status: status, verdict: health.VerdictOf(status)}
	switch {
	case r.verdict == limited:
		r.reason = reasonLimited
	case r.verdict == failed:
		r.reason = reasonServer
	case r.verdict == refused && status < 400:
		r.reason = reasonRedirected
	case r.verdict == refused:
		r.reason = refusal(status)
	}
	return r
}

// refusal returns the reason for a status from 400 to 499.
func refusal(status int) string {
	if status < 400 || status > 499 {
		return reasonInvalid
	}
	return "refused_" + strconv.Itoa(status)
}

// String describes the reply for logs, without the body, which may quote the request.
func (r *reply) String() string {
	if r.err != nil {
		return r.err.Error()
	}
	return fmt.Sprintf("answered %d", r.status)
}
