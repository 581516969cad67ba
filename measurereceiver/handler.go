// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
)

// endpoint is a path of the receiver.
type endpoint struct {
	methods []string
	serve   func(*measureReceiver, http.ResponseWriter, *http.Request)
}

var (
	put       = []string{http.MethodPut}
	get       = []string{http.MethodGet}
	getOrHead = []string{http.MethodGet, http.MethodHead}
)

// endpoints are the endpoints of the receiver. They are at the root, because the Android SDK drops
// the path of the configured URL.
var endpoints = map[string]endpoint{
	"/events":     {methods: put, serve: (*measureReceiver).serveEvents},
	"/builds":     {methods: put, serve: (*measureReceiver).serveBuild},
	"/builds/ota": {methods: put, serve: (*measureReceiver).serveOTABuild},
	"/config":     {methods: get, serve: (*measureReceiver).serveConfig},
	"/ping":       {methods: getOrHead, serve: (*measureReceiver).servePing},
}

// ServeHTTP dispatches a request according to the table of endpoints. confighttp has already
// limited the body and, if configured, authenticated the client.
func (r *measureReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.server.Handling.Add(1)
	defer r.server.Handling.Done()
	switch e, known := endpoints[req.URL.Path]; {
	case !known:
		r.reject(w, req, &rejection{status: http.StatusNotFound, reason: reasonNotFound, err: "no such endpoint"})
	case !slices.Contains(e.methods, req.Method):
		w.Header().Set("Allow", strings.Join(e.methods, ", "))
		r.reject(w, req, &rejection{status: http.StatusMethodNotAllowed, reason: reasonMethodNotAllowed, err: "method not allowed"})
	case r.server.Stopping.Load():
		r.reject(w, req, errShuttingDown)
	default:
		e.serve(r, w, req)
	}
}

func (r *measureReceiver) servePing(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "pong")
}

// configMaxAge is how long SDKs may cache their configuration. They still request it at nearly
// every launch.
const configMaxAge = "max-age=600"

// serveConfig returns the configuration of SDKs, which they apply at their next launch. They return
// the ETag unchanged.
func (r *measureReceiver) serveConfig(w http.ResponseWriter, req *http.Request) {
	app, why := r.apps.authenticate(req)
	if why != nil {
		r.reject(w, req, why)
		return
	}
	w.Header().Set("Etag", app.etag)
	w.Header().Set("Cache-Control", configMaxAge)
	for tag := range strings.SplitSeq(req.Header.Get("If-None-Match"), ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == "*" || tag != "" && strings.Trim(tag, `"`) == strings.Trim(app.etag, `"`) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(app.config)
}

// readBody reads and decodes the body of a batch or build.
func (r *measureReceiver) readBody(req *http.Request, claim *httpbody.Claim) (*httpbody.Body, *rejection) {
	limit := r.cfg.HTTP.MaxRequestBodySize
	body, err := httpbody.Read(req, limit, claim)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) { // the next attempt may be complete
		return nil, &rejection{status: http.StatusServiceUnavailable, reason: reasonBodyUnreadable, err: "the body is incomplete"}
	}
	if err != nil {
		return nil, bodyRejection(err, "cannot read the body")
	}
	if err := body.Decode(httpbody.Coding(req.Header.Values("Content-Encoding")), limit); err != nil {
		body.Release()
		return nil, bodyRejection(err, "cannot decode the body") // even if it is truncated, because the SDK would resend the same body
	}
	claim.ShrinkTo(int64(len(body.Data)))
	return body, nil
}

// reserve claims the memory of the translation of a body, up to the maximum of a request, so that a
// single request always fits.
func (r *measureReceiver) reserve(claim *httpbody.Claim, body *httpbody.Body) func(int64) error {
	left := httpbody.MaxPerRequest(r.cfg.HTTP.MaxRequestBodySize) - int64(len(body.Data))
	return func(bytes int64) error {
		bytes = min(bytes, left)
		left -= bytes
		return claim.Acquire(bytes)
	}
}

func bodyRejection(err error, what string) *rejection {
	switch {
	case errors.Is(err, httpbody.ErrNoMemory):
		return busy(reasonBytesInFlight)
	case errors.Is(err, httpbody.ErrTooLarge):
		return &rejection{status: http.StatusBadRequest, reason: reasonBodyTooLarge, err: "the body exceeds max_request_body_size"}
	}
	return &rejection{status: http.StatusBadRequest, reason: reasonBodyUnreadable, err: what, details: err.Error()}
}

// rejectForConfighttp responds to requests that confighttp rejects before ServeHTTP.
func (r *measureReceiver) rejectForConfighttp(w http.ResponseWriter, req *http.Request, message string, status int) {
	if status == http.StatusUnauthorized {
		r.reject(w, req, &rejection{status: status, reason: reasonUnauthorized, err: "invalid api key", details: message})
		return
	}
	r.reject(w, req, &rejection{status: status, reason: reasonBodyUnreadable, err: "cannot decode the body", details: message})
}

// clientAddress returns the address of the peer, or "" if it is not configured.
func (r *measureReceiver) clientAddress(req *http.Request) string {
	if !r.cfg.IncludeClientAddress {
		return ""
	}
	host, _, err := net.SplitHostPort(req.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}

// maxHost is the maximum length of a DNS name and a port. Every URL in a response contains the Host
// header, so with 100,000 attachments, a header of a megabyte would become 100 GB.
const maxHost = 255 + len(":65535")

// publicURL returns the URL of the receiver for apps: the configured one, else that of the request.
func (r *measureReceiver) publicURL(req *http.Request) (string, *rejection) {
	switch {
	case r.cfg.PublicEndpoint != "":
		return strings.TrimRight(r.cfg.PublicEndpoint, "/"), nil
	case len(req.Host) > maxHost:
		return "", &rejection{status: http.StatusBadRequest, reason: reasonHost, err: "the Host header is too long"}
	case req.TLS != nil:
		return "https://" + req.Host, nil
	}
	return "http://" + req.Host, nil
}

// startWriteTimeout restarts write_timeout for the response, because a phone may need longer than
// that to send a body.
func (r *measureReceiver) startWriteTimeout(w http.ResponseWriter) {
	if timeout := r.cfg.HTTP.WriteTimeout; timeout > 0 {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout))
	}
}
