// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"math"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// TraceHeader contains the members of an envelope's trace header that its items do not state.
// Sentry extrapolates counts by the sample rate, has sampling rules for the transaction that began
// the trace, and links events to the replay.
type TraceHeader struct {
	TraceID     pcommon.TraceID
	SampleRate  string
	SampleRand  string // the random number with which the rate was compared
	Sampled     string // "true" or "false"
	ReplayID    string
	Transaction string
}

var traceHeaderKeys = []string{
	semconv.SentryDSCSampleRate, semconv.SentryDSCSampleRand, semconv.SentryDSCSampled, semconv.SentryDSCReplayID, semconv.SentryDSCTransaction,
}

// member returns the member for one of traceHeaderKeys, or nil.
func (h *TraceHeader) member(key string) *string {
	switch key {
	case semconv.SentryDSCSampleRate:
		return &h.SampleRate
	case semconv.SentryDSCSampleRand:
		return &h.SampleRand
	case semconv.SentryDSCSampled:
		return &h.Sampled
	case semconv.SentryDSCReplayID:
		return &h.ReplayID
	case semconv.SentryDSCTransaction:
		return &h.Transaction
	}
	return nil
}

func isTraceHeaderKey(key string) bool { return new(TraceHeader).member(key) != nil }

// Put sets the valid members, except those that are implied by the item.
func (h TraceHeader) Put(attrs pcommon.Map, implied TraceHeader) {
	for _, key := range traceHeaderKeys {
		if text := validMember(key, *h.member(key)); text != *implied.member(key) {
			PutShared(attrs, key, text) // the envelope header's copy
		}
	}
}

// TraceHeaderOf is the inverse of Put. Without a sample rate, it has that of the trace state.
func TraceHeaderOf(trace pcommon.TraceID, attrs pcommon.Map, state string) TraceHeader {
	h := TraceHeader{TraceID: trace}
	for key, value := range attrs.All() {
		h.Read(key, value)
	}
	if h.SampleRate == "" && state != "" {
		h.SampleRate = stateRate(state)
	}
	return h
}

// stateRate returns the sample rate that OpenTelemetry's member of a trace state states, or "":
// "th" is the share of rejected traces, as the first hex digits of 56 bits. Its older form "p" is
// the negative power of two, up to 62.
// https://opentelemetry.io/docs/specs/otel/trace/tracestate-handling/
func stateRate(state string) string {
	const thresholdDigits, maxPower = 14, 62
	for member := range strings.SplitSeq(state, ",") {
		ours, ok := strings.CutPrefix(strings.TrimSpace(member), "ot=")
		if !ok {
			continue
		}
		rate := 0.0
		for entry := range strings.SplitSeq(ours, ";") {
			key, value, _ := strings.Cut(entry, ":")
			switch {
			case key == "th" && len(value) <= thresholdDigits:
				if threshold, err := strconv.ParseUint(value, 16, 64); err == nil {
					rate = 1 - math.Ldexp(float64(threshold), -4*len(value))
				}
			case key == "p" && rate == 0:
				if power, err := strconv.ParseUint(value, 10, 8); err == nil && power <= maxPower {
					rate = math.Ldexp(1, -int(power))
				}
			}
		}
		if rate > 0 {
			return strconv.FormatFloat(rate, 'g', -1, 64)
		}
	}
	return ""
}

// Read sets the member that an attribute states. It reports whether there is one.
func (h *TraceHeader) Read(key string, value pcommon.Value) bool {
	member := h.member(key)
	if member != nil {
		*member = validMember(key, value.AsString())
	}
	return member != nil
}

// Or returns h, or the header of the segment if h has no members.
func (h TraceHeader) Or(segment TraceHeader) TraceHeader {
	if h == (TraceHeader{TraceID: h.TraceID}) {
		return segment
	}
	return h
}

// validMember returns "" for text that would make Relay ignore the trace header.
func validMember(key, text string) string {
	switch key {
	case semconv.SentryDSCTransaction:
		return Clip(text, MaxNameBytes)
	case semconv.SentryDSCReplayID:
		return jsonscan.SimpleID(text)
	case semconv.SentryDSCSampled:
		if text == "true" || text == "false" {
			return text
		}
		return ""
	}
	return probability(text)
}

// probability returns a text that is a decimal number from 0 to 1, else "".
func probability(text string) string {
	if len(text) > MaxIDBytes || strings.Trim(text, "0123456789.eE+-") != "" {
		return ""
	}
	if p, err := strconv.ParseFloat(text, 64); err != nil || p < 0 || p > 1 {
		return ""
	}
	return text
}
