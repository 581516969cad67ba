// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/health"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/loopguard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// client posts envelopes to the address of a DSN.
type client struct {
	http      *http.Client
	url       string
	userAgent string
	publicKey string
}

// newClient creates a client. program is the name of the program as "name/version".
func newClient(c *http.Client, dsn sentry.DSN, program string) *client {
	return &client{
		http:      c,
		url:       dsn.EnvelopeURL(),
		userAgent: program,
		publicKey: dsn.PublicKey,
	}
}

// verdict is the result of posting an envelope.
type verdict = health.Verdict

const (
	sent    = health.Accepted
	refused = health.Refused // permanently
	limited = health.Limited // send again when the limit has expired
	failed  = health.Failed  // send again
)

// reply is Sentry's response, or the reason why there is none.
type reply struct {
	verdict verdict
	reason  string // metric attribute, "" if sent
	status  int    // 0 = no response
	header  http.Header
	wait    time.Duration // minimum time until the next post; 0 = the exporter decides
	err     error         // nil if sent
}

// isUnauthorized reports whether Sentry rejected the key.
func (r *reply) isUnauthorized() bool {
	return r.status == http.StatusUnauthorized || r.status == http.StatusForbidden
}

// maxResponseBody limits how much of a response is read. Relay's errors have one line.
const maxResponseBody = 64 << 10

// post sends one envelope.
func (c *client) post(ctx context.Context, e *envelope) reply {
	body, err := sentry.AppendEnvelope(nil, &sentry.Envelope{Header: c.header(e, time.Now()), Items: e.items()})
	if err != nil {
		return reply{verdict: refused, reason: reasonInvalidEnvelope, err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return reply{verdict: refused, reason: reasonInvalidEnvelope, err: err}
	}
	req.Header.Set("Content-Type", sentry.ContentTypeEnvelope)
	req.Header.Set("User-Agent", c.userAgent)
	req.Header.Set("X-Sentry-Auth", c.auth(e))
	req.Header.Set(loopguard.Header, loopguard.Shared.Send(e.Via))
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{verdict: failed, reason: reasonNetwork, err: err}
	}
	defer resp.Body.Close()
	// Only the status matters; the text, if it can be read, explains it.
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxResponseBody))
	return classify(resp.StatusCode, resp.Header, text)
}

// auth returns the credentials. They name the sender, or the SDK of items with which ingest stores
// the SDK of the request.
func (c *client) auth(e *envelope) string {
	return sentry.Auth{PublicKey: c.publicKey, Version: strconv.Itoa(sentry.ProtocolVersion), Client: cmp.Or(e.Client, c.userAgent)}.Header()
}

// header returns the header of an envelope. sent_at is the current time by the clock that the times
// in the item have: ingest adds its difference from the time of receipt to them
// (relay-event-normalization/src/clock_drift.rs). There is none if they are right.
func (c *client) header(e *envelope, now time.Time) sentry.EnvelopeHeader {
	h := sentry.EnvelopeHeader{EventID: e.EventID}
	if e.DriftMilli != 0 {
		h.SentAt = now.Add(-time.Duration(e.DriftMilli) * time.Millisecond)
	}
	if e.Trace != nil {
		trace := *e.Trace
		trace.PublicKey = c.publicKey
		h.Trace = &trace
	}
	return h
}

// classify returns the verdict for a response, and its reason.
func classify(status int, header http.Header, text []byte) reply {
	r := reply{status: status, header: header, verdict: health.VerdictOf(status)}
	switch {
	case r.verdict == sent:
		return r
	case r.verdict == limited:
		r.reason = reasonLimited
	case r.verdict == failed:
		r.reason = reasonServer
	case status < 400:
		r.reason = reasonRedirected
		r.err = fmt.Errorf("response %d redirects to %.*q: the dsn must name that address", status, maxDetail, header.Get("Location"))
		return r
	default:
		r.reason = cmp.Or(refusedReasons[status], reasonRefused)
	}
	r.err = fmt.Errorf("response %d %s", status, detail(text))
	return r
}

// Reasons in metrics.
const (
	reasonInvalidEnvelope = "invalid_envelope"
	reasonNetwork         = "network_error"
	reasonLimited         = "rate_limited"
	reasonServer          = "server_error"
	reasonRedirected      = "redirected"
	reasonTooLarge        = "too_large"
	reasonRefused         = "refused"           // any other status
	reasonExhausted       = "retries_exhausted" // too many failed attempts
	reasonQueueFull       = "queue_full"        // see dropNotQueued
	reasonQueue           = "queue_error"       // any other error of a queue, such as that of its storage
)

var refusedReasons = map[int]string{
	http.StatusBadRequest:            "bad_request",
	http.StatusUnauthorized:          "unauthorized",
	http.StatusForbidden:             "forbidden",
	http.StatusNotFound:              "not_found",
	http.StatusRequestEntityTooLarge: reasonTooLarge,
}

// maxDetail limits the length of a response in logs.
const maxDetail = 300

// detail returns Relay's description of an error: {"detail":"…","causes":["…"]}.
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

// pause returns the pause that the server requests, or 0.
func (r *reply) pause(now time.Time) time.Duration { return sentry.RetryAfter(r.header, now, 0) }
