// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// client posts envelopes to the address of a DSN.
type client struct {
	http      *http.Client
	url       string
	auth      string // value of the header X-Sentry-Auth
	userAgent string
	publicKey string
}

// newClient takes the name of the program as "name/version".
func newClient(c *http.Client, dsn sentry.DSN, program string) *client {
	return &client{
		http:      c,
		url:       dsn.EnvelopeURL(),
		auth:      fmt.Sprintf("Sentry sentry_version=%d, sentry_client=%s, sentry_key=%s", sentry.ProtocolVersion, program, dsn.PublicKey),
		userAgent: program,
		publicKey: dsn.PublicKey,
	}
}

// verdict is what is to be done after an envelope was posted.
type verdict int

const (
	sent    verdict = iota
	refused         // for good
	limited         // to be sent once the limit is over
	failed          // to be sent again
)

// reply is what Sentry said, or why it could not be asked.
type reply struct {
	verdict verdict
	reason  string // metric attribute, "" if sent
	status  int    // 0 = there was no answer
	header  http.Header
	wait    time.Duration // until it may be posted again; 0 = as long as the exporter likes
	err     error         // nil if sent
}

// isUnauthorized reports whether Sentry does not accept the key.
func (r *reply) isUnauthorized() bool {
	return r.status == http.StatusUnauthorized || r.status == http.StatusForbidden
}

// maxResponseBody bounds what is read of an answer: Relay's errors are a line.
const maxResponseBody = 64 << 10

// post sends one envelope.
func (c *client) post(ctx context.Context, e *envelope) reply {
	body, err := sentry.AppendEnvelope(nil, &sentry.Envelope{Header: c.header(e), Items: []sentry.Item{e.Item}})
	if err != nil {
		return reply{verdict: refused, reason: reasonInvalidEnvelope, err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return reply{verdict: refused, reason: reasonInvalidEnvelope, err: err}
	}
	req.Header.Set("Content-Type", sentry.ContentTypeEnvelope)
	req.Header.Set("User-Agent", c.userAgent)
	req.Header.Set("X-Sentry-Auth", c.auth)
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{verdict: failed, reason: reasonNetwork, err: err}
	}
	defer resp.Body.Close()
	// The status is all that counts: it comes after the envelope was read. What can be read of the
	// text explains it.
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxResponseBody))
	return classify(resp.StatusCode, resp.Header, text)
}

// header of an envelope. There is no sent_at: by it Sentry corrects the clock of whoever took the
// data, which is not ours.
func (c *client) header(e *envelope) sentry.EnvelopeHeader {
	h := sentry.EnvelopeHeader{EventID: e.EventID}
	if e.Trace != nil {
		trace := *e.Trace
		trace.PublicKey = c.publicKey
		h.Trace = &trace
	}
	return h
}

// classify says what an answer means: Sentry takes (2xx), never takes (3xx, 4xx), or does not take
// now (429, 5xx, and 408 of proxies).
func classify(status int, header http.Header, text []byte) reply {
	r := reply{status: status, header: header}
	switch {
	case status >= 200 && status < 300:
		return r
	case status == http.StatusTooManyRequests:
		r.verdict, r.reason = limited, reasonLimited
	case status >= 500 || status == http.StatusRequestTimeout:
		r.verdict, r.reason = failed, reasonServer
	case status < 400:
		r.verdict, r.reason = refused, reasonRedirected
		r.err = fmt.Errorf("answered %d to %.*q: the dsn must name the address itself", status, maxDetail, header.Get("Location"))
		return r
	default:
		r.verdict, r.reason = refused, refusedReasons[status]
		if r.reason == "" {
			r.reason = reasonRefused
		}
	}
	r.err = fmt.Errorf("answered %d %s", status, detail(text))
	return r
}

// Reasons, as they stand in metrics.
const (
	reasonInvalidEnvelope = "invalid_envelope"
	reasonNetwork         = "network_error"
	reasonLimited         = "rate_limited"
	reasonServer          = "server_error"
	reasonRedirected      = "redirected"
	reasonTooLarge        = "too_large"
	reasonRefused         = "refused"           // any other status
	reasonExhausted       = "retries_exhausted" // what Sentry failed to accept
)

var refusedReasons = map[int]string{
	http.StatusBadRequest:            "bad_request",
	http.StatusUnauthorized:          "unauthorized",
	http.StatusForbidden:             "forbidden",
	http.StatusNotFound:              "not_found",
	http.StatusRequestEntityTooLarge: reasonTooLarge,
}

// maxDetail bounds what is logged of an answer.
const maxDetail = 300

// detail is what Relay says about an error: {"detail":"…","causes":["…"]}.
func detail(text []byte) string {
	var body struct {
		Detail string   `json:"detail"`
		Causes []string `json:"causes"`
	}
	if json.Unmarshal(text, &body) != nil || body.Detail == "" {
		return ""
	}
	said := body.Detail
	for _, cause := range body.Causes {
		said += ": " + cause
	}
	return fmt.Sprintf("%.*q", maxDetail, said)
}

// pause is how long the server asks to be left alone, 0 if it does not.
func (r *reply) pause(now time.Time) time.Duration { return sentry.RetryAfter(r.header, now, 0) }
