// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"net/http"
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// route is the meaning of a request at Sentry's ingest (relay-server/src/endpoints/mod.rs).
type route struct {
	handling handling
	endpoint string // metric attribute
	prefix   string // path in front of /api, as it was escaped
	project  string // decimal; "" for tunnels and the management API
	pathKey  string // public key in the path
}

// handling is what the tee does with a request.
type handling int

const (
	passed    handling = iota // to the receiver only
	kept                      // to the receiver, and then, with the bytes that it has read, to Sentry
	tunnelled                 // kept; only the envelope names the project
	streamed                  // to Sentry only, and its response back to the client
)

// Names of endpoints, as metrics have them.
const (
	endpointEnvelope   = "envelope"
	endpointStore      = "store"
	endpointSecurity   = "security"
	endpointCSPReport  = "csp-report"
	endpointNel        = "nel"
	endpointCron       = "cron"
	endpointTunnel     = "tunnel"
	endpointUpload     = "upload"
	endpointManagement = "management"
	endpointOther      = "other"
	endpointReport     = "client_report" // of the tee itself
)

// streamedEndpoints are those that have a name of their own in metrics, with the place of the public key in their path, if it has one.
var streamedEndpoints = map[string]int{
	"minidump": 0, "unreal": 2, "playstation": 0, "events": 0, endpointUpload: 0, "integration": 0, "otlp": 0,
}

// routeOf finds the route of a request.
func routeOf(req *http.Request) route {
	prefix, rest, ok := strings.Cut(req.URL.EscapedPath(), "/api/")
	switch {
	case hasDotSegments(req.URL.Path):
		return route{} // whoever resolves them may find another endpoint than this does
	case !ok && req.Method == http.MethodPost:
		return route{handling: tunnelled, endpoint: endpointTunnel}
	case !ok:
		return route{}
	}
	segments := strings.FieldsFunc(rest, func(c rune) bool { return c == '/' }) // without any empty ones
	if len(segments) < 2 || segments[0] == "relay" || strings.Join(segments, "/") == "0/relays/live" {
		return route{}
	}
	if segments[0] == "0" {
		return route{handling: streamed, endpoint: endpointManagement, prefix: prefix}
	}
	project, err := sentry.ParseProjectID(segments[0])
	if err != nil {
		return route{}
	}
	r := route{prefix: prefix, project: project, endpoint: segments[1]}
	switch segments[1] {
	case endpointEnvelope, endpointStore, endpointSecurity, endpointCSPReport, endpointNel:
		if len(segments) == 2 {
			r.handling = kept
		}
	case endpointCron:
		if len(segments) == 3 || len(segments) == 4 {
			r.handling, r.pathKey = kept, strings.Join(segments[3:], "")
		}
	default: // whatever a future ingest has, too
		r.handling = streamed
		key, named := streamedEndpoints[segments[1]]
		if !named {
			r.endpoint = endpointOther
		}
		if key > 0 && len(segments) > key {
			r.pathKey = segments[key]
		}
	}
	return r
}

func hasDotSegments(path string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '\\' }), func(segment string) bool {
		return segment == "." || segment == ".."
	})
}

// targetOf returns the path and query at Sentry: those of the request, without the prefix.
func (r *route) targetOf(req *http.Request) string {
	target := strings.TrimPrefix(req.URL.EscapedPath(), r.prefix)
	if req.URL.RawQuery != "" || req.URL.ForceQuery {
		target += "?" + req.URL.RawQuery
	}
	return target
}

// credentials are those of the request itself. A tunnel is often on the site that uses it: headers and query are the site's own.
func (r *route) credentials(req *http.Request) sentry.Credentials {
	if r.handling == tunnelled {
		return sentry.Credentials{}
	}
	return sentry.Credentials{
		SentryAuth:    req.Header.Get("X-Sentry-Auth"),
		Authorization: req.Header.Get("Authorization"),
		RawQuery:      req.URL.RawQuery,
		PathKey:       r.pathKey,
		ProjectID:     r.project,
	}
}
