// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// stream forwards a request that the receiver does not support, and its response, with constant
// memory: minidumps, uploads, requests of future SDKs. It stores nothing, because crash reporters
// and uploads need Sentry's own response.
func (t *tee) stream(w http.ResponseWriter, req *http.Request, r *route, receiver http.Handler) {
	key := ""
	if r.endpoint != endpointManagement {
		var admitted bool
		if key, admitted = admission(w, req, r, receiver); !admitted {
			return
		}
	}
	to := t.forwarder.outgoing.destinations.Of(r.project)
	if to == nil {
		t.telemetry.ended(r.endpoint, outcomeDropped, reasonNoUpstream)
		http.Error(w, "this project is not forwarded to Sentry", http.StatusNotFound)
		return
	}
	claim := t.forwarder.room.Claim(req.Context()).NeverWait()
	claim.SetTenant(r.project)
	if err := claim.Acquire(streamBytes); err != nil {
		t.telemetry.ended(r.endpoint, outcomeDropped, reasonNoRoom)
		http.Error(w, "too many requests are being forwarded", http.StatusServiceUnavailable)
		return
	}
	defer claim.Release()
	outgoing := (&request{Method: req.Method, Target: r.targetOf(req), Header: upstreamHeader(req, r, t.via), Project: r.project, Key: key}).mappedTo(to)
	ctx, cancel := context.WithTimeout(req.Context(), maxStream)
	defer cancel()
	began := time.Now()
	resp, err := t.upstream.stream(ctx, outgoing, req)
	answer := reply{verdict: failed, reason: reasonNetwork, err: err}
	if err == nil {
		answer = replyOf(resp.StatusCode)
	}
	t.telemetry.answered(ctx, &answer, time.Since(began))
	t.streamed(r, &answer)
	extendWrites(w)
	if err != nil {
		http.Error(w, "Sentry is not reachable", http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		http.Error(w, "Sentry's response is not valid", http.StatusBadGateway)
		return
	}
	copyAnswerHeader(w.Header(), resp.Header)
	if location := resp.Header.Get("Location"); location != "" {
		w.Header().Set("Location", to.Back(location, r.prefix, r.project))
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body) // after an error on one side, the response is truncated
}

// streamed counts a request. Failed requests are not retried: the client has received a response.
func (t *tee) streamed(r *route, answer *reply) {
	outcome, reason := outcomes[answer.verdict], answer.reason
	if answer.verdict == failed {
		outcome = outcomeDropped
	}
	t.telemetry.ended(r.endpoint, outcome, reason)
	if answer.verdict != sent {
		t.logger.Warn("Request not accepted by Sentry", zap.String("endpoint", r.endpoint), zap.String("project", r.project), zap.Stringer("answer", answer))
	}
}

// streamBytes is the memory of a stream, for the buffers of its two connections. The default of
// max_bytes_in_flight has room for 1,024 streams.
const streamBytes = 64 << 10

// maxStream is the maximum duration of a request: Sentry's largest upload, 1 GiB, takes an hour at
// 2.4 Mbit/s.
const maxStream = time.Hour

// answerTime is the maximum time for a client to read the response. The server's write timeout
// started with the request.
const answerTime = time.Minute

func extendWrites(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
}

// admission asks the receiver, which has the list of projects, whether a client may send data. It
// sends the receiver an envelope with the credentials of the request; the envelope is empty or has
// the record of a crash report. admission returns the public key of the client, or responds with
// the receiver's rejection.
func admission(w http.ResponseWriter, req *http.Request, r *route, receiver http.Handler) (publicKey string, admitted bool) {
	auth, err := sentry.Authenticate(r.credentials(req))
	question := req.Clone(req.Context())
	question.Method = http.MethodPost
	question.URL = &url.URL{RawPath: r.prefix + "/api/" + r.project + "/envelope/", RawQuery: req.URL.RawQuery}
	question.URL.Path, _ = url.PathUnescape(question.URL.RawPath) // the path is valid, and so is its prefix
	question.Header.Del("Content-Encoding")
	question.Header.Del("Expect")
	question.Header.Set("Content-Type", sentry.ContentTypeEnvelope)
	if err == nil && r.pathKey != "" {
		question.Header.Set("X-Sentry-Auth", auth.Header())
	}
	body := crashRecord(req, r, time.Now())
	if body == nil {
		body = []byte("{}\n")
	}
	question.Body, question.ContentLength, question.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	unsent := blank{}
	answer := &ownAnswer{ResponseWriter: unsent}
	receiver.ServeHTTP(answer, question)
	if answer.admits(err == nil) {
		return auth.PublicKey, true
	}
	httpbody.Discard(req)
	extendWrites(w)
	maps.Copy(w.Header(), http.Header(unsent))
	answer.ResponseWriter = w
	answer.send("")
	return "", false
}

// blank is a response writer that discards the response.
type blank http.Header

func (b blank) Header() http.Header         { return http.Header(b) }
func (b blank) Write(p []byte) (int, error) { return len(p), nil }
func (b blank) WriteHeader(int)             {}
