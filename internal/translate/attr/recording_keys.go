// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// OfRecording reports whether an attribute of a metric belongs to a single recording and is written
// to its exemplar, not to the data point: its values identify a user, a session, a trace, a request
// or a URL with IDs. Sentry stores each recording and aggregates later. In OpenTelemetry, each set
// of point attributes is a series, so 300 users would create 300 series of one counter.
//
// The keys alone decide: a series must not depend on the values of other recordings.
func OfRecording(key string) bool {
	return recordingKeys[key] || strings.HasPrefix(key, semconv.UserPrefix) || strings.HasPrefix(key, semconv.SentryUserPrefix)
}

// recordingKeys are the other keys. Python's and JavaScript's SDKs set the user, the replay and the
// parent span; users set the rest.
var recordingKeys = map[string]bool{
	semconv.EnduserID:         true,
	semconv.EnduserPseudoID:   true,
	semconv.ClientAddress:     true,
	semconv.UserAgentOriginal: true,
	semconv.DeviceID:          true,
	semconv.AppInstallationID: true,

	semconv.SessionID:         true,
	semconv.SessionPreviousID: true,
	semconv.SentryReplayID:    true,
	semconv.SentryProfilerID:  true,
	semconv.SentryProfileID:   true,
	semconv.SentryChunkID:     true,

	semconv.SentryTimestampSequence: true, // JavaScript numbers each recording
	semconv.SentryTraceID:           true,
	semconv.SentryTraceParentSpanID: true,
	semconv.SentrySegmentID:         true,
	"trace_id":                      true,
	"span_id":                       true,
	"parent_span_id":                true,

	semconv.HTTPRequestID:                            true,
	semconv.HTTPRequestHeaderPrefix + "x-request-id": true,
	semconv.HTTPRequestHeaderPrefix + "x_request_id": true, // of Sentry's SDKs
	semconv.FaaSInvocationID:                         true,
	"faas.invocation_id":                             true, // before 1.45
	semconv.AWSRequestID:                             true,
	semconv.MessagingMessageID:                       true,
	semconv.MessagingMessageConversationID:           true,
	"request_id":                                     true,
	"request.id":                                     true,
	"correlation_id":                                 true,
	"correlation.id":                                 true,

	semconv.URLFull:     true,
	semconv.URLPath:     true,
	semconv.URLQuery:    true,
	semconv.URLFragment: true,
	semconv.HTTPURL:     true,
	semconv.HTTPTarget:  true,
	semconv.HTTPQuery:   true,
	"url":               true,
}
