// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// otlpEndpoints returns the endpoints for OTLP. Relay has those for traces and logs; the OTLP
// integrations of SDKs derive the first path from the DSN (EndpointType.OTLP_TRACES in Python's
// consts.py, getOtlpTracesEndpoint in @sentry/server-utils), early versions the second one.
func otlpEndpoints() (all []endpoint) {
	for _, base := range []string{"/api/{project}/integration" + otlpPath, "/api/{project}" + otlpPath} {
		for _, e := range []struct {
			path string
			item sentry.ItemType
		}{
			{"/traces", sentry.ItemOtelTracesData},
			{"/logs", sentry.ItemOtelLogsData},
			{"/metrics", sentry.ItemOtelMetricsData},
			{"/profiles", sentry.ItemOtelProfilesData},
			{"development/profiles", sentry.ItemOtelProfilesData}, // the path of OTLP
		} {
			all = append(all, endpoint{path: base + e.path, methods: post, open: openOTLP(e.item), respond: respondOTLP})
		}
	}
	return all
}

const otlpPath = "/otlp/v1"

// openOTLP returns the opener for OTLP messages. A message becomes the only item of an envelope.
func openOTLP(itemType sentry.ItemType) opener {
	return func(sub *submission, body *httpbody.Body) (*sentry.Envelope, error) {
		encoding := mediaType(sub.req)
		if encoding != sentry.ContentTypeProtobuf && encoding != sentry.ContentTypeJSON {
			return &sentry.Envelope{}, &rejection{status: http.StatusUnsupportedMediaType, reason: reasonBodyInvalid, detail: "unsupported content type",
				cause: "it must be " + sentry.ContentTypeProtobuf + " or " + sentry.ContentTypeJSON}
		}
		if itemType == sentry.ItemOtelProfilesData {
			if err := pprofileotlp.ValidateDevelopmentVersion(sub.req.Header.Values(pprofileotlp.DevelopmentVersionHeader)); err != nil {
				return &sentry.Envelope{}, invalidBody("unsupported version of OTLP profiles", err)
			}
		}
		header := sentry.ItemHeader{Type: itemType, ContentType: encoding}
		return &sentry.Envelope{Items: []sentry.Item{{Header: header, Payload: body.Data}}}, nil
	}
}

// isOTLP reports whether a client expects OTLP's responses.
func isOTLP(req *http.Request) bool { return strings.Contains(req.URL.Path, otlpPath) }

// respondOTLP responds as OTLP servers do: with an empty ExportServiceResponse, or with a Status in
// the encoding of the request. OTLP clients resend data only after 429 and 503; other clients of
// this receiver never resend. Retry-After does not affect the other data of an SDK, because its
// OTLP exporter is separate.
func respondOTLP(w http.ResponseWriter, req *http.Request, r response) {
	if r.status == http.StatusOK && r.unusable != nil {
		r = response{status: http.StatusBadRequest, Detail: "invalid OTLP", Causes: []string{r.unusable.Detail}}
	}
	if r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", otlpRetryAfter)
	}
	encoding, body := sentry.ContentTypeJSON, []byte("{}")
	if mediaType(req) == sentry.ContentTypeProtobuf {
		encoding, body = sentry.ContentTypeProtobuf, nil
	}
	if r.status != http.StatusOK {
		body = statusOf(r, encoding)
	}
	w.Header().Set("Content-Type", encoding)
	w.WriteHeader(r.status)
	_, _ = w.Write(body) // fails only if the client has disconnected
}

// otlpRetryAfter is in seconds. Clients give up after ten (JavaScript, Python) to sixty (Go).
const otlpRetryAfter = "1"

// statusOf returns a response as google.rpc.Status.
func statusOf(r response, encoding string) []byte {
	code, known := otlpCodes[r.status]
	if !known {
		code = codes.Unknown
	}
	s := status.New(code, strings.ToValidUTF8(strings.Join(append([]string{r.Detail}, r.Causes...), ": "), "")).Proto()
	marshal := protojson.Marshal
	if encoding == sentry.ContentTypeProtobuf {
		marshal = proto.Marshal
	}
	body, err := marshal(s)
	if err != nil {
		panic(err) // unreachable: the text is valid UTF-8
	}
	return body
}

// otlpCodes are the codes of the statuses of this receiver. See
// https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto.
var otlpCodes = map[int]codes.Code{
	http.StatusBadRequest: codes.InvalidArgument, http.StatusUnsupportedMediaType: codes.InvalidArgument,
	http.StatusRequestEntityTooLarge: codes.InvalidArgument, http.StatusRequestTimeout: codes.DeadlineExceeded,
	http.StatusUnauthorized: codes.Unauthenticated, http.StatusForbidden: codes.PermissionDenied,
	http.StatusNotFound: codes.Unimplemented, http.StatusMethodNotAllowed: codes.Unimplemented,
	http.StatusTooManyRequests: codes.ResourceExhausted, http.StatusServiceUnavailable: codes.Unavailable,
}
