// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// EnvelopeHeader is the first JSON object of an envelope. All fields are optional: Python sends {}
// for profile chunks.
//
// Not decoded: sdk.integrations, sdk.packages, sdk.settings, and the fields that one Relay sends to
// another (client, origin, remote_addr, forwarded_for, retention, …).
//
// https://develop.sentry.dev/sdk/foundations/transport/envelopes/#headers
type EnvelopeHeader struct {
	EventID string                  // 32 lower-case hex digits, without the hyphens that Native sends; "" = absent or not a UUID
	DSN     string                  // as sent, always by Go, PHP, Ruby and Native, and by JavaScript only through a tunnel
	SDK     SDK                     //
	SentAt  time.Time               // time of sending by the client's clock, in UTC; zero = absent or not RFC 3339
	Trace   *DynamicSamplingContext // nil = absent or not an object
}

// SDK names the program that sent an envelope, e.g. sentry.python 2.68.0.
type SDK struct {
	Name    string
	Version string
}

// DynamicSamplingContext is the "trace" header: the properties of the trace at the time of the
// sampling decision.
//
// The specification defines all values as text. Native sends sample_rate and sample_rand as
// numbers, and other SDKs have sent sampled as a boolean. Such values are kept as JSON text.
//
// https://develop.sentry.dev/sdk/foundations/trace-propagation/dynamic-sampling-context/
type DynamicSamplingContext struct {
	TraceID     string
	PublicKey   string
	SampleRate  string
	SampleRand  string
	Sampled     string // "true" or "false"
	Release     string
	Environment string
	Transaction string
	ReplayID    string
	OrgID       string
}

var (
	envelopeHeaderKeys = []string{"event_id", "dsn", "sdk", "sent_at", "trace"}
	sdkKeys            = []string{"name", "version"}
	traceKeys          = []string{
		"trace_id", "public_key", "sample_rate", "sample_rand", "sampled",
		"release", "environment", "transaction", "replay_id", "org_id",
	}
)

// field returns the field for one of traceKeys. Reader and writer share it.
func (c *DynamicSamplingContext) field(key string) *string {
	switch key {
	case "trace_id":
		return &c.TraceID
	case "public_key":
		return &c.PublicKey
	case "sample_rate":
		return &c.SampleRate
	case "sample_rand":
		return &c.SampleRand
	case "sampled":
		return &c.Sampled
	case "release":
		return &c.Release
	case "environment":
		return &c.Environment
	case "transaction":
		return &c.Transaction
	case "replay_id":
		return &c.ReplayID
	case "org_id":
		return &c.OrgID
	}
	panic("sentry: no field for the trace key " + key)
}

// decode reads the JSON object of the header. If the value is not an object, the scanner has an
// error.
func (h *EnvelopeHeader) decode(s *jsonscan.Scanner) {
	for o := openHeader(s, envelopeHeaderKeys); o.next(); {
		switch o.key {
		case "event_id":
			h.EventID = jsonscan.SimpleID(o.text())
		case "dsn":
			h.DSN = o.text()
		case "sdk":
			for sdk := o.object(sdkKeys); sdk.next(); {
				switch sdk.key {
				case "name":
					h.SDK.Name = sdk.text()
				case "version":
					h.SDK.Version = sdk.text()
				}
			}
		case "sent_at":
			h.SentAt = instant(o.text())
		case "trace":
			if trace := o.object(traceKeys); trace.entered() {
				h.Trace = &DynamicSamplingContext{}
				for trace.next() {
					*h.Trace.field(trace.key) = trace.scalar()
				}
			}
		}
	}
}

// append is the inverse of decode.
func (h *EnvelopeHeader) append(dst []byte) []byte {
	dst = append(dst, '{')
	dst = jsonscan.AppendText(dst, "event_id", h.EventID)
	dst = jsonscan.AppendText(dst, "dsn", h.DSN)
	if h.SDK != (SDK{}) {
		dst = append(jsonscan.AppendKey(dst, "sdk"), '{')
		dst = jsonscan.AppendText(dst, "name", h.SDK.Name)
		dst = jsonscan.AppendText(dst, "version", h.SDK.Version)
		dst = append(dst, '}')
	}
	if !h.SentAt.IsZero() {
		dst = jsonscan.AppendText(dst, "sent_at", h.SentAt.UTC().Format(time.RFC3339Nano))
	}
	if h.Trace != nil {
		dst = append(jsonscan.AppendKey(dst, "trace"), '{')
		for _, key := range traceKeys {
			dst = jsonscan.AppendText(dst, key, *h.Trace.field(key))
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// instant parses the text of an instant. It returns zero for other text, and for years that RFC
// 3339 cannot represent in UTC.
func instant(text string) time.Time {
	t, zoned, ok := jsonscan.Instant(text)
	if !ok || !zoned || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
