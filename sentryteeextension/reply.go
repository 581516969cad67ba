// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

var errTarget = errors.New("the path of the request is none that can be forwarded")

// verdict is what is to be done after a request was forwarded.
type verdict int

const (
	sent    verdict = iota
	limited         // Sentry has counted it as rate limited; SDKs do not send it again either
	refused         // for good
	failed          // to be sent again
	omitted         // nothing of it was to be sent
)

// outcomes are the verdicts as they stand in metrics. What failed has none yet.
var outcomes = map[verdict]string{sent: "forwarded", limited: "rate_limited", refused: "refused", omitted: "omitted"}

// reply is Sentry's answer, or why there is none.
type reply struct {
	verdict verdict
	reason  string // metric attribute; "" if sent
	status  int    // 0 = there was no answer
	header  http.Header
	body    []byte
	err     error // of the connection
}

// Reasons, as they stand in metrics. For those of other answers see refusal.
const (
	reasonNetwork    = "network_error"
	reasonServer     = "server_error"
	reasonLimited    = "rate_limited"
	reasonRedirected = "redirected"
	reasonInvalid    = "invalid_request"
)

// maxAnswer bounds what is read of an answer: Relay's have a line.
const maxAnswer = 64 << 10

// readReply reads an answer, of which a body that is too long or cut off is no part.
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

// replyOf says what a status means: Sentry takes the request (2xx), never takes it (3xx, 4xx), or does not take it now (5xx, and 408 of
// proxies).
func replyOf(status int) reply {
	r := reply{status: status}
	switch {
	case status >= 200 && status < 300:
	case status == http.StatusTooManyRequests:
		r.verdict, r.reason = limited, reasonLimited
	case status >= 500 || status == http.StatusRequestTimeout:
		r.verdict, r.reason = failed, reasonServer
	case status < 400:
		r.verdict, r.reason = refused, reasonRedirected
	default:
		r.verdict, r.reason = refused, refusal(status)
	}
	return r
}

// refusal is the reason of a status from 400 to 499.
func refusal(status int) string {
	if status < 400 || status > 499 {
		return reasonInvalid
	}
	return "refused_" + strconv.Itoa(status)
}

// String describes the reply in logs, without the text of the answer, which may quote the request.
func (r *reply) String() string {
	if r.err != nil {
		return r.err.Error()
	}
	return fmt.Sprintf("answered %d", r.status)
}
