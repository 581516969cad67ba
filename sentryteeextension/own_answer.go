// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"bytes"
	"net/http"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// ownAnswer buffers the receiver's response: a client that has the response may forget the request,
// so the request must be stored first. Headers are set on the underlying writer.
type ownAnswer struct {
	http.ResponseWriter
	status int // 0 = no response yet
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

// Unwrap gives http.ResponseController access to the connection.
func (a *ownAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// send sends the response, with additional rate limits.
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
	_, _ = a.ResponseWriter.Write(a.body.Bytes()) // an error means that the client has disconnected
}

// replace replaces the receiver's response with Sentry's.
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

// admits reports whether the receiver has admitted the client, according to its response. It checks
// credentials in an envelope only after reading the body, so an error about the body does not show
// whether they are valid.
func (a *ownAnswer) admits(credentialsInRequest bool) bool {
	switch {
	case a.status >= 200 && a.status < 300:
		return true
	case a.status == http.StatusBadRequest, a.status == http.StatusRequestEntityTooLarge, a.status == http.StatusTooManyRequests:
		return credentialsInRequest
	}
	return false
}
