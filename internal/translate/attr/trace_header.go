// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// TraceHeader contains the members of an envelope's trace header that differ between spans of a
// resource. Sentry extrapolates counts by the sample rate.
type TraceHeader struct {
	TraceID    pcommon.TraceID
	SampleRate string
	SampleRand string
}

// TraceHeaderOf is the inverse of PutSampling.
func TraceHeaderOf(trace pcommon.TraceID, attrs pcommon.Map) TraceHeader {
	h := TraceHeader{TraceID: trace}
	for key, value := range attrs.All() {
		switch key {
		case semconv.SentryDSCSampleRate:
			h.SampleRate = probability(value.AsString())
		case semconv.SentryDSCSampleRand:
			h.SampleRand = probability(value.AsString())
		}
	}
	return h
}

// Or returns h, or the header of the segment if h has no sample rate.
func (h TraceHeader) Or(segment TraceHeader) TraceHeader {
	if h.SampleRate == "" {
		return segment
	}
	return h
}

// PutSampling sets the sample rate and the random number that it was compared with.
func PutSampling(attrs pcommon.Map, rate, random string) {
	PutText(attrs, semconv.SentryDSCSampleRate, probability(rate))
	PutText(attrs, semconv.SentryDSCSampleRand, probability(random))
}

// probability returns a text that is a decimal number from 0 to 1, else "". Relay ignores a trace
// header with any other text.
func probability(text string) string {
	if len(text) > MaxIDBytes || strings.Trim(text, "0123456789.eE+-") != "" {
		return ""
	}
	if p, err := strconv.ParseFloat(text, 64); err != nil || p < 0 || p > 1 {
		return ""
	}
	return text
}
