// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"net/http"
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// route describes a request by the endpoints of Sentry's ingest
// (relay-server/src/endpoints/mod.rs).
type route struct {
	handling handling
	endpoint string // metric attribute
	prefix   string // path in front of /api, with its escapes
	project  string // decimal; "" for tunnels and the management API
	pathKey  string // public key in the path
}

// handling is the way in which the tee handles a request.
type handling int

const (
	passed    handling = iota // to the receiver only
	kept                      // to the receiver, then the bytes that it read to Sentry
	tunnelled                 // like kept, but only the envelope contains the project
	streamed                  // to Sentry only, and the response to the client
)

// Names of endpoints in metrics.
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
	endpointReport     = "client_report" // from the tee itself

	endpointOTLPTraces   = "otlp_traces"
	endpointOTLPLogs     = "otlp_logs"
	endpointOTLPMetrics  = "otlp_metrics"
	endpointOTLPProfiles = "otlp_profiles"
)

// otlpEndpoints has the endpoints of OTLP by the end of their path.
var otlpEndpoints = map[string]string{
	"v1/traces": endpointOTLPTraces, "v1/logs": endpointOTLPLogs, "v1/metrics": endpointOTLPMetrics,
	"v1/profiles": endpointOTLPProfiles, "v1development/profiles": endpointOTLPProfiles,
}

// clientsResend reports whether the clients of an endpoint resend a request after 429. Of Sentry's
// SDKs, only the OTLP exporters do.
func clientsResend(endpoint string) bool { return strings.HasPrefix(endpoint, "otlp_") }

// streamedEndpoints has the streamed endpoints with their own name in metrics, and the position of
// the public key in their path, if any.
var streamedEndpoints = map[string]int{
	"minidump": 0, "unreal": 2, "playstation": 0, "events": 0, endpointUpload: 0, "integration": 0, "otlp": 0,
}

// routeOf returns the route of a request.
func routeOf(req *http.Request) route {
	prefix, rest, ok := strings.Cut(req.URL.EscapedPath(), "/api/")
	switch {
	case req.Method == http.MethodConnect || req.Method == http.MethodTrace:
		return route{} // they are about the connection to Sentry, which clients share
	case hasDotSegments(req.URL.Path):
		return route{} // another server may resolve the dots differently
	case !ok && req.Method == http.MethodPost:
		return route{handling: tunnelled, endpoint: endpointTunnel}
	case !ok:
		return route{}
	}
	segments := strings.FieldsFunc(rest, func(c rune) bool { return c == '/' }) // without empty segments
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
	default: // including endpoints of future versions
		if otlp := otlpEndpoint(segments[1:]); otlp != "" {
			r.handling, r.endpoint = kept, otlp
			break
		}
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

// otlpEndpoint returns the endpoint of OTLP for a path below the project, or "".
func otlpEndpoint(segments []string) string {
	if segments[0] == "integration" {
		segments = segments[1:]
	}
	if len(segments) != 3 || segments[0] != "otlp" {
		return ""
	}
	return otlpEndpoints[segments[1]+"/"+segments[2]]
}

func hasDotSegments(path string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '\\' }), func(segment string) bool {
		return segment == "." || segment == ".."
	})
}

// targetOf returns the path and query for Sentry: those of the request, without the prefix.
func (r *route) targetOf(req *http.Request) string {
	target := strings.TrimPrefix(req.URL.EscapedPath(), r.prefix)
	if req.URL.RawQuery != "" || req.URL.ForceQuery {
		target += "?" + req.URL.RawQuery
	}
	return target
}

// credentials returns the credentials in the request. For tunnels, it ignores headers and query:
// they may be meant for the website.
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
