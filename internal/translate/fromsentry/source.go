// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Source contains the inputs of the translation other than the payload: request metadata, time of
// receipt and configuration.
type Source struct {
	ProjectID string           // from the URL; "" = sent to Spotlight, without a DSN
	SDK       sentry.ClientSDK // from the envelope header, because V1 payloads do not name their SDK
	ClientSDK sentry.ClientSDK // from the credentials: Python's and Ruby's omit the framework

	// Known is the identity that the process stated elsewhere, for items whose type has no fields
	// for it; zero = not known. Its texts do not refer to the payload. KnownIn, if not nil,
	// completes it for OTLP. Stated, if not nil, receives the identity of the output.
	Known   attr.Identity
	KnownIn KnownIn
	Stated  func(attr.Identity)

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

// KnownIn returns the identity that processes in a language (telemetry.sdk.language) stated last.
// Node's integration for OTLP does not name the SDK, and Ruby's has a name of its own.
type KnownIn func(language string) attr.Identity

// fallbackName returns the name of a service without a release.
func (s *Source) fallbackName() string {
	if s.ProjectID == "" {
		return "sentry-spotlight"
	}
	return "sentry-project-" + s.ProjectID
}

// ServiceName returns the name of the service of an identity, as in a resource.
func (s *Source) ServiceName(id attr.Identity) string {
	for _, configured := range s.Resource {
		if configured.Key == semconv.ServiceName {
			return configured.Value.AsString()
		}
	}
	name, _ := splitRelease(strings.TrimSpace(attr.FirstText(id.Release, s.Known.Release, s.Release)))
	return attr.FirstText(name, s.fallbackName())
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

// The functions below are the only conversions of time. Decoding has already converted decimal text
// to whole nanoseconds (package jsonscan).

// Anchor returns the instant from which the samples of a V1 profile count, in Unix nanoseconds: the
// profile's own time, else the start of its transaction. If both are missing, the last sample gets
// the time of receipt.
func Anchor(p *profile.Profile, src Source) uint64 {
	switch {
	case p.Timestamp.Set:
		return src.unixNano(p.Timestamp)
	case src.TransactionStart.Set:
		return src.unixNano(src.TransactionStart)
	case p.Samples.Len() == 0: // an Android profile with measurements only
		return src.ReceivedNano
	}
	return src.ReceivedNano - min(slices.Max(p.Samples.Time), src.ReceivedNano)
}

// unixNano converts an instant of the client's clock, and corrects it if src.CorrectDrift is set.
// Do not use it for times of receipt.
func (src Source) unixNano(t jsonscan.Timestamp) uint64 {
	if !src.CorrectDrift || src.ClockDriftMilli == 0 {
		return t.UnixNano
	}
	return attr.Shifted(t.UnixNano, src.ClockDriftMilli)
}

// putDrift adds the offset of the client's clock, and whether times were corrected by it. These are
// attributes of profiles, spans and log records: on resources, they would create a resource per
// request; on data points, a new series.
func putDrift(attrs pcommon.Map, src Source) {
	if src.ClockDriftMilli != 0 {
		attrs.PutInt(semconv.SentryClockDriftMS, src.ClockDriftMilli)
		if src.CorrectDrift {
			attrs.PutBool(semconv.SentryClockDriftCorrected, true)
		}
	}
}

// clockDrift is putDrift for profiles.
func (l *attributeList) clockDrift(src Source) {
	if src.ClockDriftMilli != 0 {
		l.add(semconv.SentryClockDriftMS, dictionary.IntValue(src.ClockDriftMilli), "")
		if src.CorrectDrift {
			l.add(semconv.SentryClockDriftCorrected, dictionary.BoolValue(true), "")
		}
	}
}
