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

// receive reads an envelope and ingests it. If it returns an error, no part of the envelope was
// accepted.
func (r *sentryReceiver) receive(sub *submission) (response, error) {
	ctx, received := sub.req.Context(), time.Now()
	if r.server.Stopping.Load() {
		return response{}, errShuttingDown
	}
	via, loop := loopguard.Shared.Receive(sub.req.Header)
	if loop {
		return response{}, errLoop
	}
	claim := r.inflight.Claim(ctx)
	defer claim.Release() // after the deliveries: output can be larger than the body
	coding := httpbody.Coding(sub.req.Header.Values("Content-Encoding"))
	auth, from, err := r.admit(sub, coding, claim)
	if err != nil {
		return response{}, err
	}
	if r.pipelines.AllBusy() {
		return r.rejectUnread(ctx), nil
	}
	claim.SetTenant(auth.ProjectID)
	body, err := r.readBody(sub, coding, claim)
	if err != nil {
		return response{}, err
	}
	envelope, framing := sub.open(sub, body)
	claim.ShrinkTo(int64(len(body.Data)))
	sender := ledger.NewSender(auth.ProjectID, sdkOf(&envelope.Header, auth))
	if dsn := envelope.Header.DSN; dsn != "" { // it may contradict the request
		auth, from, err = r.identify(sub, dsn)
	}
	if err == nil {
		err = framing
	} else {
		sender = ledger.Unidentified
	}
	if err != nil {
		body.Release()
		r.telemetry.itemsLost(ctx, sender, envelope.Items, rejectionOf(err).reason)
		return response{}, err
	}
	program := programOf(auth, sub.req.UserAgent())
	origin := sentryitems.Sender{ProjectID: auth.ProjectID, PublicKey: auth.PublicKey, SDK: sdkOf(&envelope.Header, auth), Resource: from.resource,
		Known: r.services.lastOf(program), Address: r.proxies.ClientAddress(sub.req), UserAgent: sub.req.UserAgent()}
	in := &ingestion{
		sentryReceiver: r, envelope: envelope, auth: auth, sender: sender, program: program, via: via,
		translation: sentryitems.New(envelope, origin, r.cfg.translation(), r.pipelines.Has, received),
		budget:      r.newBudget(claim, int64(len(body.Data))),
	}
	in.translation.Claim(in.budget.add)
	return in.run(ctx, body), nil
}

// readBody reads and decodes a body.
func (r *sentryReceiver) readBody(sub *submission, coding string, claim *httpbody.Claim) (*httpbody.Body, error) {
	body, err := httpbody.Read(sub.req, sub.maxBody, claim)
	if err != nil {
		return nil, bodyRejection(err, reasonBodyUnreadable, "cannot read the body", sub.maxBody)
	}
	if err := body.Decode(coding, sub.maxBody); err != nil {
		body.Release()
		return nil, bodyRejection(err, reasonBodyUndecodable, "cannot decode the body as "+coding, sub.maxBody)
	}
	return body, nil
}

// admit identifies the sender by the request or, failing that, by the envelope header, before
// memory is allocated for the body.
func (r *sentryReceiver) admit(sub *submission, coding string, claim *httpbody.Claim) (sentry.Auth, *project, error) {
	auth, from, err := r.identify(sub, "")
	if err == nil || sub.isEnvelope == nil || !sub.isEnvelope(sub.req) || rejectionOf(err).reason != string(sentry.ReasonAuthMissing) {
		return auth, from, err
	}
	var dsn string
	err = httpbody.Peek(sub.req, coding, sentry.MaxHeaderBytes, claim, func(begin []byte) bool {
		header, err := sentry.ReadEnvelopeHeader(begin)
		dsn = header.DSN
		return err == nil
	})
	if err != nil {
		return sentry.Auth{}, nil, bodyRejection(err, reasonBodyUndecodable, "cannot decode the body as "+coding, sub.maxBody)
	}
	return r.identify(sub, dsn)
}

// identify identifies the sender and checks its permission. dsn is the DSN of the envelope, or ""
// if it is not known yet.
func (r *sentryReceiver) identify(sub *submission, dsn string) (sentry.Auth, *project, error) {
	if sub.anonymous {
		return sentry.Auth{}, anyProject, nil
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
	auth, err := sentry.Authenticate(credentials)
	if err != nil {
		return sentry.Auth{}, nil, err
	}
	from, err := r.projects.admit(auth)
	return auth, from, err
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
	if notices.Shared.Report(r.notice(subject, why.reason, detail)) {
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
func (r *sentryReceiver) notice(subject, reason, detail string) notices.Notice {
	return notices.Notice{Component: r.id.String(), Subject: subject, Reason: reason, Detail: detail, Count: 1, Last: time.Now()}
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
