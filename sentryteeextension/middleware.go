// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// wrap returns a handler that passes requests to the receiver and forwards them.
func (t *tee) wrap(_ context.Context, receiver http.Handler) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch r := routeOf(req); {
		case r.handling != passed && isLoop(req.Header, t.via):
			http.Error(w, "the address of Sentry in the configuration of the collector is its own", http.StatusLoopDetected)
		case r.handling == kept || r.handling == tunnelled:
			t.keep(w, req, &r, receiver)
		case r.handling == streamed && (r.endpoint != endpointManagement || t.cfg.ManagementAPI):
			t.stream(w, req, &r, receiver)
		default:
			receiver.ServeHTTP(w, req)
		}
	}), nil
}

// keep lets the receiver respond to a request, and forwards the bytes that the receiver read.
func (t *tee) keep(w http.ResponseWriter, req *http.Request, r *route, receiver http.Handler) {
	forwarded := &request{
		Method: req.Method, Target: r.targetOf(req), Header: upstreamHeader(req, r, t.via), Received: time.Now(),
		Endpoint: r.endpoint, Project: r.project,
	}
	credentials := r.credentials(req)
	auth, authErr := sentry.Authenticate(credentials)

	claim := t.forwarder.room.Claim(req.Context()).NeverWait()
	claim.SetTenant(r.project)
	body := &heldBody{ReadCloser: req.Body, claim: claim, size: req.ContentLength}
	req.Body = body
	own := &ownAnswer{ResponseWriter: w}
	receiver.ServeHTTP(own, req)

	if !own.admits(authErr == nil) {
		claim.Release()
		own.send("")
		return
	}
	if err := body.finish(); err != nil {
		t.notKept(r, forwarded, err)
		own.send("")
		return
	}
	forwarded.Body = body.data
	if authErr != nil && !t.identify(forwarded, r, credentials) {
		claim.Release()
		own.send("")
		return
	}
	if authErr == nil {
		forwarded.Key = auth.PublicKey
	}
	t.forward(own, forwarded, claim)
}

// forward queues a request, and responds to the client.
func (t *tee) forward(own *ownAnswer, r *request, claim *httpbody.Claim) {
	if t.forwarder.outgoing.destinations.of(r.Project) == nil {
		claim.Release()
		t.telemetry.ended(r.Endpoint, outcomeDropped, reasonNoUpstream)
		own.send("")
		return
	}
	claim.SetTenant(r.Project)
	size := r.size()
	if err := claim.Acquire(size); err != nil {
		claim.Release()
		t.telemetry.ended(r.Endpoint, outcomeDropped, reasonNoRoom)
		own.send("")
		return
	}
	e := &entry{project: r.Project, endpoint: r.Endpoint, received: r.Received, weight: size + int64(len(r.Body)), request: r, claim: claim}
	if t.cfg.Answer == answerUpstream {
		t.answerUpstream(own, e)
		return
	}
	limits := ""
	if t.cfg.passesLimitsOn() {
		limits = t.forwarder.limits.text(r.key(), r.Received)
	}
	t.forwarder.add(e)
	own.send(limits)
}

// answerUpstream responds with Sentry's response or, if that does not arrive in time, with the receiver's.
func (t *tee) answerUpstream(own *ownAnswer, e *entry) {
	done := make(chan reply, 1)
	e.done = done
	t.forwarder.add(e)
	timer := time.NewTimer(t.cfg.AnswerTimeout)
	defer timer.Stop()
	select {
	case r := <-done:
		if r.verdict != failed && r.verdict != omitted && r.body != nil {
			own.replace(&r)
		}
		own.send("")
	case <-timer.C:
		own.send("")
	}
}

// notKept counts a request that cannot be forwarded because its body is missing.
func (t *tee) notKept(r *route, forwarded *request, err error) {
	reason := reasonIncomplete
	if err == httpbody.ErrNoMemory {
		reason = reasonNoRoom
	}
	t.telemetry.ended(r.endpoint, outcomeDropped, reason)
	t.logger.Warn("Request cannot be forwarded", zap.String("endpoint", r.endpoint), zap.String("project", forwarded.Project),
		zap.String("reason", reason))
}

// identify reads project and key from the envelope header. A tunnel request becomes a request to the envelope endpoint of its project. The
// host in its DSN is ignored: the configuration determines the upstream.
func (t *tee) identify(forwarded *request, r *route, credentials sentry.Credentials) bool {
	if r.endpoint != endpointTunnel && r.endpoint != endpointEnvelope {
		return false
	}
	header, ok := t.headerOf(forwarded)
	if !ok {
		return false
	}
	credentials.EnvelopeDSN = header.DSN
	auth, err := sentry.Authenticate(credentials)
	if err != nil || auth.ProjectID == "" {
		return false // a response of another endpoint of the receiver
	}
	if r.handling == tunnelled {
		forwarded.Target = "/api/" + auth.ProjectID + "/envelope/"
	}
	forwarded.Project, forwarded.Key = auth.ProjectID, auth.PublicKey
	return true
}

// headerOf returns the header of the envelope, and whether there is one.
func (t *tee) headerOf(r *request) (sentry.EnvelopeHeader, bool) {
	coding := httpbody.Coding(r.Header["Content-Encoding"])
	claim := t.forwarder.room.Claim(context.Background())
	defer claim.Release()
	var header sentry.EnvelopeHeader
	found, err := httpbody.PeekAt(r.Body, coding, sentry.MaxHeaderBytes, claim, func(begin []byte) bool {
		var err error
		header, err = sentry.ReadEnvelopeHeader(begin)
		return err == nil
	})
	return header, found && err == nil
}
