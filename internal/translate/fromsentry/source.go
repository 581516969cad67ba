// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Source is what the request tells about a profile beyond its payload. Translation has no clock and no configuration of its
// own: both come in here.
type Source struct {
	ProjectID string           // from the URL
	SDK       sentry.ClientSDK // from the envelope header: a V1 payload does not name its SDK

	// Resource is what is configured for the resources of the project, of all signals. It wins over what payloads say: SDKs
	// that were told no environment say "production".
	Resource []Attribute

	ReceivedNano     uint64             // time of receipt, unix nanoseconds
	ClockDriftMilli  int64              // receipt minus the client's time of sending; 0 = too little to tell it from the way
	CorrectDrift     bool               // move the client's times by that
	TransactionStart jsonscan.Timestamp // of the transaction in the same envelope, if a V1 profile comes without an anchor

	PeriodType      string // "wall" or "cpu"
	OriginalPayload []byte // kept on the profile if not nil; the profile gets a copy

	// Of the envelope header, for items whose payload does not say: events of php have no id, attachments no release.
	EventID, Release, Environment string

	// IncludePII passes on what Sentry calls default PII: cookies, authorization headers, http.env, IP addresses, e-mail.
	IncludePII bool

	ProfileID string // of the V1 profile in the same envelope: spans of its transaction point at it
}

// Attribute is a key and its value. The value is copied from, by many translations at the same time.
type Attribute struct {
	Key   string
	Value pcommon.Value
}
