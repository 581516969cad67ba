// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Source contains the inputs of the translation other than the payload: request metadata, time of
// receipt and configuration.
type Source struct {
	ProjectID string           // from the URL; "" = sent to Spotlight, without a DSN
	SDK       sentry.ClientSDK // from the envelope header, because V1 payloads do not name their SDK
	ClientSDK sentry.ClientSDK // from the credentials: Python's and Ruby's omit the framework

	// Known is the identity that the process stated elsewhere, for items whose type has no fields
	// for it; zero = not known. Stated, if not nil, receives the identity of the output.
	Known  attr.Identity
	Stated func(attr.Identity)

	// Resource contains the configured resource attributes of the project, for all signals. They
	// override the payload, because SDKs send "production" if no environment is configured.
	Resource []Attribute

	// The client of the request, to complete items as ingest would (infer.go); "" = not known, such
	// as the address behind a proxy.
	ClientAddress, UserAgent string

	ReceivedNano     uint64             // time of receipt, Unix nanoseconds
	ClockDriftMilli  int64              // time of receipt minus the client's send time; 0 = within network latency
	CorrectDrift     bool               // add the drift to client times
	TransactionStart jsonscan.Timestamp // of the transaction in the same envelope, for V1 profiles without an anchor

	PeriodType      string // "wall" or "cpu"
	OriginalPayload []byte // kept on the profile if not nil; it is copied

	// From the envelope header, for items that do not state them: PHP events have no ID,
	// attachments no release.
	EventID, Release, Environment string

	Trace attr.TraceHeader // of the envelope, without the trace ID

	// IncludePII keeps what Sentry calls default PII: cookies, authorization headers, http.env, IP
	// addresses, e-mail.
	IncludePII bool

	// PointAttributes are attributes of recordings that stay on data points.
	PointAttributes []string

	ProfileID string // of the V1 profile in the same envelope, for the spans of its transaction
}

// fallbackName returns the name of a service without a release.
func (s *Source) fallbackName() string {
	if s.ProjectID == "" {
		return "sentry-spotlight"
	}
	return "sentry-project-" + s.ProjectID
}

// ofRecording reports whether an attribute of a metric is on an exemplar.
func (s *Source) ofRecording(key string) bool {
	return attr.OfRecording(key) && !slices.Contains(s.PointAttributes, key)
}

// Attribute is a key and its value. Concurrent translations copy the value.
type Attribute struct {
	Key   string
	Value pcommon.Value
}
