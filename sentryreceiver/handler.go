// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// ServeHTTP finds out which request this is. confighttp has limited the body, and authenticated the client if it was told to.
//
// Paths are matched here rather than by http.ServeMux, which answers in plain text and redirects where a DSN's path makes
// a double slash: SDKs do not follow.
func (r *sentryReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.server.Handling.Add(1)
	defer r.server.Handling.Done()
	path, known := strings.CutPrefix(req.URL.Path, r.cfg.PathPrefix)
	known = known && strings.HasPrefix(path, "/")
	segments := strings.FieldsFunc(path, func(c rune) bool { return c == '/' }) // without any empty ones
	var project, endpoint string
	var rest []string
	if known && len(segments) >= 3 && segments[0] == "api" {
		project, endpoint, rest = segments[1], segments[2], segments[3:]
	}
	limit := r.cfg.HTTP.MaxRequestBodySize
	switch {
	case endpoint == "envelope" && len(rest) == 0:
		if r.allow(w, req, http.MethodPost) {
			r.serve(w, req, submission{project: project, envelope: true, limit: limit, open: openEnvelope})
		}
	case r.cfg.TunnelPath != "" && strings.TrimRight(req.URL.Path, "/") == r.cfg.TunnelPath:
		if r.allow(w, req, http.MethodPost) {
			r.serve(w, req, submission{tunnel: true, envelope: true, limit: limit, open: openEnvelope})
		}
	case endpoint == "store" && len(rest) == 0: // store.go
		if r.allow(w, req, http.MethodGet, http.MethodPost) {
			sub := submission{project: project, envelope: isEnvelope(req), limit: limit, open: r.openStore}
			if req.Method == http.MethodGet {
				sub.open, sub.answer = r.openStoreQuery, answerStoreQuery
			}
			r.serve(w, req, sub)
		}
	case (endpoint == "security" || endpoint == "csp-report") && len(rest) == 0: // security.go
		if r.allow(w, req, http.MethodPost) {
			r.serve(w, req, submission{project: project, limit: limit, open: openReports(sentry.ItemRawSecurity)})
		}
	case endpoint == "nel" && len(rest) == 0:
		if r.allow(w, req, http.MethodPost) {
			r.serve(w, req, submission{project: project, limit: limit, open: openReports(sentry.ItemNel)})
		}
	case endpoint == "cron" && (len(rest) == 1 || len(rest) == 2): // cron.go: the monitor and perhaps the key
		if r.allow(w, req, http.MethodGet, http.MethodPost) {
			r.serve(w, req, submission{
				project: project, pathKey: strings.Join(rest[1:], ""), limit: min(limit, maxCheckInBody),
				open: openCheckIn(rest[0]), answer: answerCheckIn,
			})
		}
	case known && isHealthPath(strings.Join(segments, "/")):
		if r.allow(w, req, http.MethodGet, http.MethodHead) {
			r.serveHealth(w, segments[len(segments)-1])
		}
	default:
		r.readRest(w, req)
		r.refuse(w, req, &refusal{http.StatusNotFound, reasonNotFound, "no such endpoint", ""})
	}
}

// allow answers requests with another method than those.
func (r *sentryReceiver) allow(w http.ResponseWriter, req *http.Request, methods ...string) bool {
	if slices.Contains(methods, req.Method) {
		return true
	}
	w.Header().Set("Allow", strings.Join(append(methods, http.MethodOptions), ", "))
	r.readRest(w, req)
	r.refuse(w, req, &refusal{http.StatusMethodNotAllowed, reasonMethodNotAllowed, "method not allowed", ""})
	return false
}

// submission is a request that brings items. Whatever the endpoint, they are those of an envelope.
type submission struct {
	project  string // in the path
	pathKey  string // the public key where it is in the path too
	tunnel   bool   // only the envelope says who sends
	envelope bool   // the body is one, which may say who sends
	limit    int64  // bytes of the body
	open     opener
	answer   func(http.ResponseWriter, answer) // nil = as SDKs expect it
}

// opener makes an envelope of the body of a request. The envelope is never nil: after an error, it has what was read before.
// Its payloads may point into the body.
type opener func(req *http.Request, body *httpbody.Body) (*sentry.Envelope, error)

func openEnvelope(_ *http.Request, body *httpbody.Body) (*sentry.Envelope, error) {
	return sentry.ReadEnvelope(body.Data)
}

// serve answers a request that brings items.
func (r *sentryReceiver) serve(w http.ResponseWriter, req *http.Request, sub submission) {
	answer, err := r.receive(req, sub)
	r.readRest(w, req)
	if err != nil {
		r.refuse(w, req, refusalOf(err))
		return
	}
	if sub.answer != nil {
		sub.answer(w, answer)
		return
	}
	answer.write(w)
}

// readRest ends the reading of a request, whatever became of it. confighttp's write_timeout began with the headers, and a phone may
// take longer than that to send a body. SDKs with an offline cache (java, cocoa) send again what they got no answer for: let the
// time begin with the answer.
func (r *sentryReceiver) readRest(w http.ResponseWriter, req *http.Request) {
	httpbody.Discard(req)
	if timeout := r.cfg.HTTP.WriteTimeout; timeout > 0 {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout))
	}
}

// receive is the way of an envelope through the receiver. After an error nothing of it was taken.
func (r *sentryReceiver) receive(req *http.Request, sub submission) (answer, error) {
	received := time.Now()
	if r.server.Stopping.Load() {
		return answer{}, errShuttingDown
	}
	claim := r.inflight.Claim(req.Context())
	defer claim.Release() // not before the deliveries are done: what is made of a body is larger than the body
	coding := httpbody.Coding(req.Header.Values("Content-Encoding"))
	auth, _, err := r.admit(req, sub, coding, claim)
	if err != nil {
		return answer{}, err
	}
	if r.refusesAll() {
		return r.turnAway(req), nil
	}
	claim.SetTenant(auth.ProjectID)
	body, err := httpbody.Read(req, sub.limit, claim)
	if err != nil {
		return answer{}, bodyRefusal(err, reasonBodyUnreadable, "cannot read the body", sub.limit)
	}
	if err := body.Decode(coding, sub.limit); err != nil {
		body.Release()
		return answer{}, bodyRefusal(err, reasonBodyUndecodable, "cannot decode the body as "+coding, sub.limit)
	}
	envelope, framing := sub.open(req, body)
	claim.Keep(int64(len(body.Data)))
	sender := newSender(auth.ProjectID, sdkOf(&envelope.Header, auth))
	auth, from, err := r.identify(req, sub, envelope.Header.DSN) // the envelope may contradict the request
	if err == nil {
		err = framing
	} else {
		sender = otherSender // it says so itself
	}
	if err != nil {
		body.Release()
		r.telemetry.itemsLost(req.Context(), sender, envelope.Items, refusalOf(err).reason)
		return answer{}, err
	}

	in := &ingestion{sentryReceiver: r, envelope: envelope, auth: auth, project: from, received: received, sender: sender,
		budget: r.newBudget(claim, int64(len(body.Data)))}
	in.drift = r.driftOf(envelope, received)
	in.transactionStart = sync.OnceValue(in.decodeTransactionStart)
	in.translate(req.Context())
	in.dropPayloads()
	body.Release()
	in.budget.dropBody()
	in.deliver(in.withClient(req.Context()))
	return in.answer(), nil
}

// admit finds out who sends, and whether they may, before the body takes any memory: from the request itself, or else from the
// header of the envelope.
func (r *sentryReceiver) admit(req *http.Request, sub submission, coding string, claim *httpbody.Claim) (sentry.Auth, *project, error) {
	auth, from, err := r.identify(req, sub, "")
	if err == nil || !sub.envelope || refusalOf(err).reason != string(sentry.ReasonAuthMissing) {
		return auth, from, err
	}
	var dsn string
	err = httpbody.Peek(req, coding, sentry.MaxHeaderBytes, claim, func(begin []byte) bool {
		header, err := sentry.ReadEnvelopeHeader(begin)
		dsn = header.DSN
		return err == nil
	})
	if err != nil {
		return sentry.Auth{}, nil, bodyRefusal(err, reasonBodyUndecodable, "cannot decode the body as "+coding, sub.limit)
	}
	return r.identify(req, sub, dsn)
}

// identify finds out who sends, and whether they may. dsn is that of the envelope, "" if it is not known yet.
func (r *sentryReceiver) identify(req *http.Request, sub submission, dsn string) (sentry.Auth, *project, error) {
	credentials := sentry.Credentials{EnvelopeDSN: dsn}
	if !sub.tunnel { // which is often on the site that uses it: headers and query are the site's own
		credentials = sentry.Credentials{
			SentryAuth:    req.Header.Get("X-Sentry-Auth"),
			Authorization: req.Header.Get("Authorization"),
			RawQuery:      req.URL.RawQuery,
			PathKey:       sub.pathKey,
			ProjectID:     sub.project,
			EnvelopeDSN:   dsn,
		}
	}
	auth, err := sentry.Authenticate(credentials)
	if err != nil {
		return sentry.Auth{}, nil, err
	}
	from, err := r.projects.admit(auth)
	return auth, from, err
}

// refuse answers a request of which nothing is taken, and counts it.
func (r *sentryReceiver) refuse(w http.ResponseWriter, req *http.Request, why *refusal) {
	r.telemetry.requestRejected(req.Context(), why.reason)
	r.logger.Debug("Request refused", zap.Int("status", why.status), zap.String("reason", why.reason), zap.Error(why))
	a := why.answer()
	if why == errBusy {
		a.limits = r.pause(reasonBytesInFlight, everyType...)
	}
	a.write(w)
}

// refuseForConfighttp answers for what confighttp finds wrong before ServeHTTP sees the request.
func (r *sentryReceiver) refuseForConfighttp(w http.ResponseWriter, req *http.Request, message string, status int) {
	r.readRest(w, req)
	switch {
	case status == http.StatusUnauthorized:
		r.refuse(w, req, &refusal{status, reasonUnauthorized, "envelope submission rejected", message})
	case strings.HasPrefix(message, "unsupported Content-Encoding"):
		w.Header().Set("Accept-Encoding", strings.Join(namedEncodings(r.cfg.HTTP.CompressionAlgorithms), ", "))
		r.refuse(w, req, &refusal{http.StatusUnsupportedMediaType, reasonUnsupportedEncoding, "unsupported encoding", message})
	default:
		r.refuse(w, req, &refusal{status, reasonBodyUndecodable, "cannot decode the body", message})
	}
}

func namedEncodings(algorithms []string) (named []string) {
	for _, algorithm := range algorithms {
		if algorithm != httpbody.Identity {
			named = append(named, algorithm)
		}
	}
	return named
}

// isHealthPath knows Relay's: load balancers and compose files in front of it ask there.
func isHealthPath(path string) bool {
	return path == "api/relay/healthcheck/live" || path == "api/relay/healthcheck/ready" || path == "api/0/relays/live"
}

func (r *sentryReceiver) serveHealth(w http.ResponseWriter, question string) {
	health := struct {
		Healthy bool `json:"is_healthy"`
	}{question == "live" || !r.server.Stopping.Load()}
	status := http.StatusOK
	if !health.Healthy {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, health)
}
