// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// OfRecording reports whether an attribute of a metric belongs to one recording, as an attribute of
// an exemplar, and not to the data point: its values identify a user, a session, a trace, a request
// or an address with IDs. Sentry stores each recording and aggregates later; in OpenTelemetry, each
// set of attributes of points is a series, so that 300 users would make 300 series of one counter.
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
