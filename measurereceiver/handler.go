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

// ServeHTTP finds out which request this is. confighttp has limited the body, and authenticated the client if it was told to.
//
// SDKs ask at the root: Android drops the path of the configured URL.
func (r *measureReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.server.Handling.Add(1)
	defer r.server.Handling.Done()
	serve, methods := r.serveEvents, []string{http.MethodPut}
	switch req.URL.Path {
	case "/events":
	case "/builds":
		serve = r.serveBuild
	case "/builds/ota":
		serve = r.serveOTABuild
	case "/config":
		serve, methods = r.serveConfig, []string{http.MethodGet}
	case "/ping":
		serve, methods = servePing, []string{http.MethodGet, http.MethodHead}
	default:
		r.refuse(w, req, &refusal{http.StatusNotFound, reasonNotFound, "no such endpoint", ""})
		return
	}
	if !slices.Contains(methods, req.Method) {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		r.refuse(w, req, &refusal{http.StatusMethodNotAllowed, reasonMethodNotAllowed, "method not allowed", ""})
		return
	}
	if r.server.Stopping.Load() {
		r.refuse(w, req, errShuttingDown)
		return
	}
	serve(w, req)
}

func servePing(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "pong")
}

// configMaxAge is for how long SDKs may keep their configuration; they ask with nearly every launch all the same.
const configMaxAge = "max-age=600"

// serveConfig answers what SDKs do from their next launch on. They echo the tag as it was.
func (r *measureReceiver) serveConfig(w http.ResponseWriter, req *http.Request) {
	app, why := r.apps.authenticate(req)
	if why != nil {
		r.refuse(w, req, why)
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
func (r *measureReceiver) readBody(req *http.Request, claim *httpbody.Claim) (*httpbody.Body, *refusal) {
	limit := r.cfg.HTTP.MaxRequestBodySize
	body, err := httpbody.Read(req, limit, claim)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) { // it may come whole the next time
		return nil, &refusal{http.StatusServiceUnavailable, reasonBodyUnreadable, "the body was cut off", ""}
	}
	if err != nil {
		return nil, bodyRefusal(err, "cannot read the body")
	}
	if err := body.Decode(httpbody.Coding(req.Header.Values("Content-Encoding")), limit); err != nil {
		body.Release()
		return nil, bodyRefusal(err, "cannot decode the body") // also where it ends too early: it would come again just so
	}
	claim.Keep(int64(len(body.Data)))
	return body, nil
}

// reserve claims what is made of a body beside the body: never more than one request may hold, so that it has room if it is alone.
func (r *measureReceiver) reserve(claim *httpbody.Claim, body *httpbody.Body) func(int64) error {
	left := httpbody.NeedOfOne(r.cfg.HTTP.MaxRequestBodySize) - int64(len(body.Data))
	return func(bytes int64) error {
		bytes = min(bytes, left)
		left -= bytes
		return claim.Acquire(bytes)
	}
}

func bodyRefusal(err error, what string) *refusal {
	switch {
	case errors.Is(err, httpbody.ErrNoRoom):
		return busy(reasonBytesInFlight)
	case errors.Is(err, httpbody.ErrTooLarge):
		return &refusal{http.StatusBadRequest, reasonBodyTooLarge, "the body is larger than this collector takes", ""}
	}
	return &refusal{http.StatusBadRequest, reasonBodyUnreadable, what, err.Error()}
}

// refuseForConfighttp answers for what confighttp finds wrong before ServeHTTP sees the request.
func (r *measureReceiver) refuseForConfighttp(w http.ResponseWriter, req *http.Request, message string, status int) {
	if status == http.StatusUnauthorized {
		r.refuse(w, req, &refusal{status, reasonUnauthorized, "invalid api key", message})
		return
	}
	r.refuse(w, req, &refusal{status, reasonBodyUnreadable, "cannot decode the body", message})
}

// clientAddress is the peer, "" unless it is asked for.
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

// maxHost is what a name in the DNS may have, and a port. The Host header stands in every address of an answer: with 100,000
// attachments, one of a megabyte would become 100 GB.
const maxHost = 255 + len(":65535")

// publicURL returns where apps reach the receiver: configured, else where this request came to.
func (r *measureReceiver) publicURL(req *http.Request) (string, *refusal) {
	switch {
	case r.cfg.PublicEndpoint != "":
		return strings.TrimRight(r.cfg.PublicEndpoint, "/"), nil
	case len(req.Host) > maxHost:
		return "", &refusal{http.StatusBadRequest, reasonHost, "the Host header is longer than a name may be", ""}
	case req.TLS != nil:
		return "https://" + req.Host, nil
	}
	return "http://" + req.Host, nil
}

// timeToAnswer lets write_timeout begin with the answer: a phone may take longer than that to send a body.
func (r *measureReceiver) timeToAnswer(w http.ResponseWriter) {
	if timeout := r.cfg.HTTP.WriteTimeout; timeout > 0 {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout))
	}
}
