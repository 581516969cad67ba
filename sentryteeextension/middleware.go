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

// keep lets the receiver respond to a request, and forwards the bytes that the receiver read. The
// client receives the response when the request is stored or, with answer: upstream, when Sentry
// has responded.
func (t *tee) keep(w http.ResponseWriter, req *http.Request, r *route, receiver http.Handler) {
	held := t.hold(w, req, r)
	defer held.release()
	receiver.ServeHTTP(held.own, req)
	limits := ""
	again := clientsResend(r.endpoint) && held.own.status == http.StatusTooManyRequests // forwarded when the receiver accepts it
	if held.own.admits(held.authErr == nil) && !again && t.complete(held) {
		limits = t.forward(held)
	}
	held.own.send(limits)
}

// held is a request while the receiver reads it and responds.
type held struct {
	*request
	route       *route
	credentials sentry.Credentials  // of the request itself
	authErr     error               // if they contain no key; the envelope may
	claim       *httpbody.Claim     // nil once an entry owns it
	room        func(n int64) error // adds n bytes to the claim
	body        *heldBody
	own         *ownAnswer
}

// hold puts the tee between the receiver and the client, so that it keeps what the receiver reads
// and holds back the response.
func (t *tee) hold(w http.ResponseWriter, req *http.Request, r *route) *held {
	h := &held{route: r, credentials: r.credentials(req), own: &ownAnswer{ResponseWriter: w}, request: &request{
		Method: req.Method, Target: r.targetOf(req), Header: upstreamHeader(req, r, t.via), Received: time.Now(),
		Endpoint: r.endpoint, Project: r.project,
	}}
	auth, err := sentry.Authenticate(h.credentials)
	h.Key, h.authErr = auth.PublicKey, err
	h.claim = t.forwarder.room.Claim(req.Context()).WaitAtMost(maxRoomWait)
	if err == nil { // the receiver reads the body after it has checked the key
		h.claim.SetTenant(r.project)
	}
	h.room = func(n int64) error { return t.forwarder.makeRoom(h.claim, n, r.project, err == nil) }
	h.body = &heldBody{ReadCloser: req.Body, claim: h.claim, room: h.room, size: req.ContentLength}
	req.Body = h.body
	return h
}

// release releases the memory of a request that is not forwarded, even if the receiver panics.
func (h *held) release() {
	if h.claim != nil {
		h.claim.Release()
	}
}

// complete adds the body, and the sender if only the envelope names it. It reports whether the
// request can be forwarded; if not, it counts the request.
func (t *tee) complete(h *held) bool {
	switch err := h.body.finish(); {
	case err == httpbody.ErrNoMemory:
		t.notKept(h, reasonNoRoom)
		return false
	case err != nil:
		t.notKept(h, reasonIncomplete)
		return false
	}
	h.Body = h.body.data
	if h.authErr != nil && !t.identify(h.request, h.route, h.credentials) {
		return false // a response from another endpoint of the receiver
	}
	if t.forwarder.outgoing.destinations.Of(h.Project) == nil {
		t.telemetry.ended(h.Endpoint, outcomeDropped, reasonNoUpstream)
		return false
	}
	h.claim.SetTenant(h.Project)
	if err := h.room(h.size()); err != nil {
		t.notKept(h, reasonNoRoom)
		return false
	}
	return true
}

// notKept counts and logs a request that cannot be forwarded.
func (t *tee) notKept(h *held, reason string) {
	t.telemetry.ended(h.Endpoint, outcomeDropped, reason)
	t.logger.Warn("Request cannot be forwarded", zap.String("endpoint", h.Endpoint), zap.String("project", h.Project), zap.String("reason", reason))
}

// forward queues a request. It returns the limits for the client or, with answer: upstream,
// replaces the receiver's response.
func (t *tee) forward(h *held) (limits string) {
	e := newEntry(h.request, h.claim)
	h.claim = nil
	if t.cfg.Answer == answerUpstream {
		t.awaitAnswer(h.own, e)
		return ""
	}
	if t.cfg.passesLimitsOn() {
		limits = t.forwarder.limits.text(h.key(), h.Received)
	}
	t.forwarder.add(e)
	return limits
}

// awaitAnswer replaces the receiver's response with Sentry's, if that arrives in time.
func (t *tee) awaitAnswer(own *ownAnswer, e *entry) {
	done := make(chan reply, 1)
	e.done = done
	t.forwarder.add(e)
	timer := time.NewTimer(t.cfg.AnswerTimeout)
	defer timer.Stop()
	select {
	case r := <-done:
		again := r.verdict == limited && clientsResend(e.endpoint) // the pipelines have it already
		if r.verdict != failed && r.verdict != omitted && r.body != nil && !again {
			own.replace(&r)
		}
	case <-timer.C:
	}
}

// identify reads the project and key from the envelope header. A tunnel request becomes a request
// to the envelope endpoint of its project. The host in its DSN is ignored: the configuration
// determines the upstream.
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
		return false
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
