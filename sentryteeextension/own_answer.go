// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"bytes"
	"net/http"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// ownAnswer is what the receiver answers, not sent yet: its answer is the client's permission to forget the request, which has to be
// stored first. The headers are those of the writer below.
type ownAnswer struct {
	http.ResponseWriter
	status int // 0 = none yet
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (a *ownAnswer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *ownAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Unwrap lets http.ResponseController find the connection.
func (a *ownAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// send sends the answer, with further rate limits.
func (a *ownAnswer) send(limits string) {
	if limits != "" {
		header := a.Header()
		if before := header.Get(sentry.HeaderRateLimits); before != "" {
			limits = before + ", " + limits
		}
		header.Set(sentry.HeaderRateLimits, limits)
	}
	a.WriteHeader(http.StatusOK)
	a.ResponseWriter.WriteHeader(a.status)
	_, _ = a.ResponseWriter.Write(a.body.Bytes()) // if the client is gone, there is nobody left to tell
}

// replace puts Sentry's answer in the place of the receiver's.
func (a *ownAnswer) replace(r *reply) {
	header := a.Header()
	for _, name := range answered {
		header.Del(name)
	}
	copyAnswerHeader(header, r.header)
	a.status = r.status
	a.body.Reset()
	a.body.Write(r.body)
}

// admits reports whether the receiver, by its answer, has let the client in. Credentials in the request itself are judged before the
// body, those in an envelope after a part of it: hence a refusal of the body says less there.
func (a *ownAnswer) admits(credentialsInRequest bool) bool {
	switch {
	case a.status >= 200 && a.status < 300:
		return true
	case a.status == http.StatusBadRequest, a.status == http.StatusRequestEntityTooLarge, a.status == http.StatusTooManyRequests:
		return credentialsInRequest
	}
	return false
}
