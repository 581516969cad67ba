// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// endpoint is a path of the receiver.
type endpoint struct {
	path    string // {project}, {monitor} and {key} stand for any segment
	methods []string

	// For data endpoints: how to read an envelope from the request, and how to respond.
	open       opener
	isEnvelope func(*http.Request) bool                           // the body is an envelope, which may name the sender; nil = never
	tunnel     bool                                               // only the envelope names the sender
	anonymous  bool                                               // senders have no credentials
	maxBody    int64                                              // bytes; 0 = max_request_body_size
	respond    func(http.ResponseWriter, *http.Request, response) // nil = the response that SDKs expect

	serve func(*sentryReceiver, http.ResponseWriter, *http.Request) // for other endpoints

	segments []string
}

// opener reads an envelope from the body of a request. The envelope is never nil: after an error,
// it contains the items that precede the error. Payloads may point into the body.
type opener func(sub *submission, body *httpbody.Body) (*sentry.Envelope, error)

var (
	post      = []string{http.MethodPost}
	get       = []string{http.MethodGet}
	getOrPost = []string{http.MethodGet, http.MethodPost}
	getOrHead = []string{http.MethodGet, http.MethodHead}
)

// endpointsOf returns the table of endpoints. The endpoints below /api are Relay's; current SDKs
// use only the first one, and those for OTLP.
func endpointsOf(cfg *Config) []endpoint {
	all := []endpoint{
		{path: "/api/{project}/envelope", methods: post, open: openEnvelope, isEnvelope: always},
		{path: "/api/{project}/store", methods: get, open: openStoreQuery, respond: respondPixel}, // store.go
		{path: "/api/{project}/store", methods: post, open: openStore, isEnvelope: hasEnvelope},
		{path: "/api/{project}/security", methods: post, open: openReports(sentry.ItemRawSecurity)}, // security.go
		{path: "/api/{project}/csp-report", methods: post, open: openReports(sentry.ItemRawSecurity)},
		{path: "/api/{project}/nel", methods: post, open: openReports(sentry.ItemNel)},
		{path: "/api/{project}/cron/{monitor}", methods: getOrPost, open: openCheckIn, maxBody: maxCheckInBody, respond: respondCheckIn}, // cron.go
		{path: "/api/{project}/cron/{monitor}/{key}", methods: getOrPost, open: openCheckIn, maxBody: maxCheckInBody, respond: respondCheckIn},
		{path: "/api/relay/healthcheck/live", methods: getOrHead, serve: (*sentryReceiver).serveLive}, // for load balancers and compose files
		{path: "/api/relay/healthcheck/ready", methods: getOrHead, serve: (*sentryReceiver).serveReady},
		{path: "/api/0/relays/live", methods: getOrHead, serve: (*sentryReceiver).serveLive},
	}
	all = append(all, otlpEndpoints()...) // otlp.go
	if cfg.TunnelPath != "" {
		all = append(all, endpoint{path: cfg.TunnelPath, methods: post, open: openEnvelope, isEnvelope: always, tunnel: true})
	}
	for i := range all {
		if e := &all[i]; !e.tunnel {
			e.path = cfg.PathPrefix + e.path
		}
	}
	return prepare(cfg, all)
}

// prepare fills the fields of endpoints that are derived from others.
func prepare(cfg *Config, all []endpoint) []endpoint {
	for i := range all {
		e := &all[i]
		e.segments = segmentsOf(e.path)
		e.maxBody = min(cmp.Or(e.maxBody, cfg.HTTP.MaxRequestBodySize), cfg.HTTP.MaxRequestBodySize)
	}
	return all
}

func always(*http.Request) bool { return true }

// segmentsOf splits a path. It ignores empty segments: a DSN with a path leads to double slashes,
// and only some SDKs send a trailing slash.
func segmentsOf(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
}

// match reports whether a path matches the endpoint, and copies its variable segments.
func (e *endpoint) match(segments []string, sub *submission) bool {
	if len(segments) != len(e.segments) {
		return false
	}
	for i, segment := range e.segments {
		switch segment {
		case "{project}":
			sub.project = segments[i]
		case "{monitor}":
			sub.monitor = segments[i]
		case "{key}":
			sub.key = segments[i]
		case segments[i]:
		default:
			return false
		}
	}
	return true
}

// handler returns the handler for a table of endpoints. confighttp has already limited the body
// and, if configured, authenticated the client.
//
// http.ServeMux is not suitable: it responds in plain text, and redirects paths with double
// slashes, but SDKs do not follow redirects.
func (r *sentryReceiver) handler(endpoints []endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { r.dispatch(w, req, endpoints) })
}

func (r *sentryReceiver) dispatch(w http.ResponseWriter, req *http.Request, endpoints []endpoint) {
	r.server.Handling.Add(1)
	defer r.server.Handling.Done()
	segments := segmentsOf(req.URL.Path)
	var allowed []string
	for i := range endpoints {
		sub := submission{endpoint: &endpoints[i], req: req}
		switch {
		case !sub.match(segments, &sub):
		case !slices.Contains(sub.methods, req.Method):
			allowed = append(allowed, sub.methods...)
		case sub.serve != nil:
			sub.serve(r, w, req)
			return
		default:
			r.serve(w, &sub)
			return
		}
	}
	r.readRest(w, req)
	if len(allowed) == 0 {
		r.reject(w, req, unknownEndpoint(segments))
		return
	}
	w.Header().Set("Allow", strings.Join(append(allowed, http.MethodOptions), ", "))
	r.reject(w, req, &rejection{status: http.StatusMethodNotAllowed, reason: reasonMethodNotAllowed, detail: "method not allowed"})
}

func (r *sentryReceiver) serveLive(w http.ResponseWriter, _ *http.Request) { serveHealth(w, true) }

func (r *sentryReceiver) serveReady(w http.ResponseWriter, _ *http.Request) {
	serveHealth(w, !r.server.Stopping.Load())
}

func serveHealth(w http.ResponseWriter, healthy bool) {
	status := http.StatusOK
	if !healthy {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, struct {
		Healthy bool `json:"is_healthy"`
	}{healthy})
}
