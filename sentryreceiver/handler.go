// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/loopguard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver/internal/ledger"
)

// submission is a request with data. Each endpoint converts the data to the items of an envelope.
type submission struct {
	*endpoint
	req *http.Request

	project, monitor, key string // from the path

	received time.Time
	via      string          // collectors that forwarded it
	claim    *httpbody.Claim // of memory
	auth     sentry.Auth
	owner    *project // of the key
}

func openEnvelope(_ *submission, body *httpbody.Body) (*sentry.Envelope, error) {
	return sentry.ReadEnvelope(body.Data)
}

// serve responds to a request with data.
func (r *sentryReceiver) serve(w http.ResponseWriter, sub *submission) {
	response, err := r.receive(sub)
	r.readRest(w, sub.req)
	switch {
	case err != nil:
		r.reject(w, sub.req, rejectionOf(err))
	case sub.respond != nil:
		sub.respond(w, sub.req, response)
	default:
		response.write(w)
	}
}

// readRest reads a request to its end, regardless of the result. confighttp starts write_timeout
// after the headers, but a phone may take longer than that to send a body. SDKs with an offline
// cache (Java, Cocoa) resend data if they receive no response, so the timeout restarts before the
// response.
func (r *sentryReceiver) readRest(w http.ResponseWriter, req *http.Request) {
	httpbody.Discard(req)
	if timeout := r.cfg.HTTP.WriteTimeout; timeout > 0 {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout))
	}
}

// receive ingests an envelope: admit, read, translate, deliver, respond. If it returns an error, no
// part of the envelope was accepted.
func (r *sentryReceiver) receive(sub *submission) (response, error) {
	sub.received = time.Now()
	sub.claim = r.inflight.Claim(sub.req.Context())
	defer sub.claim.Release() // after the deliveries: output can be larger than the body
	if err := r.admit(sub); err != nil {
		return response{}, err
	}
	if r.pipelines.AllBusy() {
		return r.rejectUnread(sub.req.Context()), nil
	}
	body, err := r.readBody(sub)
	if err != nil {
		return response{}, err
	}
	in, err := r.openBody(sub, body)
	if err != nil {
		body.Release()
		return response{}, err
	}
	ctx := sub.req.Context()
	in.translate(ctx)
	in.dropPayloads()
	body.Release()
	in.budget.dropBody()
	in.deliver(ctx)
	return in.response(), nil
}

// admit identifies the sender by the request or, failing that, by the envelope header, before
// memory is allocated for the body.
func (r *sentryReceiver) admit(sub *submission) error {
	if r.server.Stopping.Load() {
		return errShuttingDown
	}
	var loop bool
	if sub.via, loop = loopguard.Shared.Receive(sub.req.Header); loop {
		return errLoop
	}
	err := r.identify(sub, "")
	if err == nil || sub.isEnvelope == nil || !sub.isEnvelope(sub.req) || rejectionOf(err).reason != string(sentry.ReasonAuthMissing) {
		return err
	}
	var dsn string
	coding := sub.coding()
	err = httpbody.Peek(sub.req, coding, sentry.MaxHeaderBytes, sub.claim, func(begin []byte) bool {
		header, err := sentry.ReadEnvelopeHeader(begin)
		dsn = header.DSN
		return err == nil
	})
	if err != nil {
		return bodyRejection(err, reasonBodyUndecodable, "cannot decode the body as "+coding, sub.maxBody)
	}
	return r.identify(sub, dsn)
}

func (sub *submission) coding() string {
	return httpbody.Coding(sub.req.Header.Values("Content-Encoding"))
}

// readBody reads and decodes the body.
func (r *sentryReceiver) readBody(sub *submission) (*httpbody.Body, error) {
	sub.claim.SetTenant(sub.auth.ProjectID)
	body, err := httpbody.Read(sub.req, sub.maxBody, sub.claim)
	if err != nil {
		return nil, bodyRejection(err, reasonBodyUnreadable, "cannot read the body", sub.maxBody)
	}
	coding := sub.coding()
	if err := body.Decode(coding, sub.maxBody); err != nil {
		body.Release()
		return nil, bodyRejection(err, reasonBodyUndecodable, "cannot decode the body as "+coding, sub.maxBody)
	}
	return body, nil
}

// openBody converts the body to an envelope, whose header must not contradict the request.
func (r *sentryReceiver) openBody(sub *submission, body *httpbody.Body) (*ingestion, error) {
	envelope, err := sub.open(sub, body)
	sub.claim.ShrinkTo(int64(len(body.Data)))
	sender := ledger.NewSender(sub.auth.ProjectID, sdkOf(&envelope.Header, sub.auth))
	if dsn := envelope.Header.DSN; dsn != "" {
		if contradiction := r.identify(sub, dsn); contradiction != nil {
			err, sender = contradiction, ledger.Unidentified
		}
	}
	if err != nil {
		r.telemetry.itemsLost(sub.req.Context(), sender, envelope.Items, rejectionOf(err).reason)
		return nil, err
	}
	program := programOf(sub.auth, sub.req.UserAgent())
	origin := sentryitems.Sender{
		ProjectID: sub.auth.ProjectID, PublicKey: sub.auth.PublicKey, SDK: sdkOf(&envelope.Header, sub.auth), Resource: sub.owner.resource,
		Known: r.services.lastOf(program), KnownIn: r.services.knownIn(sub.auth), Address: r.proxies.ClientAddress(sub.req), UserAgent: sub.req.UserAgent(),
	}
	in := &ingestion{
		sentryReceiver: r, envelope: envelope, auth: sub.auth, sender: sender, program: program, via: sub.via,
		translation: sentryitems.New(envelope, origin, r.cfg.translation(), r.pipelines.Has, sub.received),
		budget:      r.newBudget(sub.claim, int64(len(body.Data))),
	}
	in.translation.Claim(in.budget.add)
	return in, nil
}

// identify identifies the sender and checks its permission. dsn is the DSN of the envelope, or ""
// if it is not known yet.
func (r *sentryReceiver) identify(sub *submission, dsn string) (err error) {
	if sub.anonymous {
		sub.owner = anyProject
		return nil
	}
	credentials := sentry.Credentials{EnvelopeDSN: dsn}
	if !sub.tunnel { // a tunnel is often part of a website, which uses headers and query for its own purposes
		credentials = sentry.Credentials{
			SentryAuth:    sub.req.Header.Get("X-Sentry-Auth"),
			Authorization: sub.req.Header.Get("Authorization"),
			RawQuery:      sub.req.URL.RawQuery,
			PathKey:       sub.key,
			ProjectID:     sub.project,
			EnvelopeDSN:   dsn,
		}
	}
	if sub.auth, err = sentry.Authenticate(credentials); err != nil {
		return err
	}
	sub.owner, err = r.projects.admit(sub.auth)
	return err
}

// reject responds to a request that is rejected completely, and counts it.
func (r *sentryReceiver) reject(w http.ResponseWriter, req *http.Request, why *rejection) {
	r.telemetry.requestRejected(req.Context(), why)
	level, subject, detail := zap.DebugLevel, "requests", why.Error()
	fields := []zap.Field{zap.Int("status", why.status), zap.String("reason", why.reason), zap.Error(why)}
	if why.asked != "" {
		subject += " to " + why.asked
		detail += ": " + why.path
		fields = append(fields, zap.String("path", why.path))
	}
	if notices.Shared.Report(r.notice("", subject, why.reason, detail)) {
		level = zap.InfoLevel // once: a new user has only the log and the viewer
		if why == errLoop {
			level = zap.ErrorLevel
		}
	}
	r.logger.Log(level, "Request rejected", fields...)
	response := why.response()
	if why == errBusy {
		response.limits = r.pause(reasonBytesInFlight, everyType...)
	}
	if isOTLP(req) {
		respondOTLP(w, req, response)
		return
	}
	response.write(w)
}

// notice describes one case of unusable data for the viewer.
func (r *sentryReceiver) notice(service, subject, reason, detail string) notices.Notice {
	return notices.Notice{Component: r.id.String(), Service: service, Subject: subject, Reason: reason, Detail: detail, Count: 1, Last: time.Now()}
}

// rejectForConfighttp responds to requests that confighttp rejects before ServeHTTP.
func (r *sentryReceiver) rejectForConfighttp(w http.ResponseWriter, req *http.Request, message string, status int) {
	r.readRest(w, req)
	switch {
	case status == http.StatusUnauthorized:
		r.reject(w, req, &rejection{status: status, reason: reasonUnauthorized, detail: "envelope submission rejected", cause: message})
	case strings.HasPrefix(message, "unsupported Content-Encoding"):
		w.Header().Set("Accept-Encoding", strings.Join(namedEncodings(r.cfg.HTTP.CompressionAlgorithms), ", "))
		r.reject(w, req, &rejection{status: http.StatusUnsupportedMediaType, reason: reasonUnsupportedEncoding, detail: "unsupported encoding", cause: message})
	default:
		r.reject(w, req, &rejection{status: status, reason: reasonBodyUndecodable, detail: "cannot decode the body", cause: message})
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

// sdkOf returns the SDK that created the data, as stated in the envelope header or, failing that,
// in the credentials ("sentry.python/2.68.0").
func sdkOf(header *sentry.EnvelopeHeader, auth sentry.Auth) sentry.ClientSDK {
	if header.SDK != (sentry.SDK{}) {
		return sentry.ClientSDK(header.SDK)
	}
	name, version, _ := strings.Cut(auth.Client, "/")
	return sentry.ClientSDK{Name: name, Version: version}
}
