// SPDX-License-Identifier: Apache-2.0

package event

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// ClientReport is the payload of a "client_report" item: data that an SDK, or a Relay on the way,
// dropped.
// https://develop.sentry.dev/sdk/telemetry/client-reports/
type ClientReport struct {
	Timestamp jsonscan.Timestamp
	Events    []LostEvents

	discard.Tally // of unusable entries
}

// LostEvents is an entry of one of the report's four lists.
type LostEvents struct {
	Outcome  string // one of the Outcome constants, determined by the list that contains the entry
	Reason   string // sample_rate, before_send, queue_overflow, ratelimit_backoff, …
	Category string // a data category: error, transaction, span, log_byte, …
	Quantity int64  // items, or bytes for the categories that end in _byte

	counted bool // while it is read
}

// Outcomes, with Relay's names. SDKs send only the first one.
const (
	OutcomeClientDiscard    = "client_discard"
	OutcomeRateLimited      = "rate_limited"
	OutcomeFiltered         = "filtered"
	OutcomeFilteredSampling = "filtered_sampling"
)

// ClientReports is the table of ClientReport.
var ClientReports = newTable[ClientReport]("", nil,
	dateTime("timestamp", func(r *ClientReport) *jsonscan.Timestamp { return &r.Timestamp }),
	lostEvents("discarded_events", OutcomeClientDiscard),
	lostEvents("rate_limited_events", OutcomeRateLimited),
	lostEvents("filtered_events", OutcomeFiltered),
	lostEvents("filtered_sampling_events", OutcomeFilteredSampling),
)

// lostEvents is the list of the entries with an outcome. Ingest requires the list of an SDK's own
// discards.
func lostEvents(key, outcome string) row[ClientReport] {
	return row[ClientReport]{
		key: key,
		read: func(l *reader, r *ClientReport, name string) {
			l.found = true
			l.List(name, func() { r.event(l, outcome) })
		},
		write: func(dst []byte, key string, r *ClientReport) []byte {
			before := len(dst)
			dst = append(jsonscan.AppendKey(dst, key), '[')
			for i := range r.Events {
				if e := &r.Events[i]; e.Outcome == outcome {
					dst = LostEventEntries.Append(appendComma(dst), e)
				}
			}
			if dst[len(dst)-1] == '[' && outcome != OutcomeClientDiscard {
				return dst[:before]
			}
			return append(dst, ']')
		},
	}
}

var LostEventEntries = newTable[LostEvents]("events", nil,
	text("reason", func(e *LostEvents) *string { return &e.Reason }),
	text("category", func(e *LostEvents) *string { return &e.Category }),
	row[LostEvents]{
		key: "quantity",
		read: func(l *reader, e *LostEvents, name string) {
			n := l.quantity(name)
			e.Quantity, e.counted = n.Value, n.Set
		},
		write: func(dst []byte, key string, e *LostEvents) []byte {
			return appendInt(jsonscan.AppendKey(dst, key), e.Quantity)
		},
	},
).unprefixed()

// ReasonReportNoQuantity: the entry has no quantity from 0 to 2^32-1, or is not an object.
const ReasonReportNoQuantity discard.Reason = "client_report_no_quantity"

// DecodeClientReport decodes the payload of a "client_report" item. The error is a *discard.Error.
func DecodeClientReport(payload []byte) (*ClientReport, error) {
	r := &ClientReport{}
	l, err := ClientReports.decode(payload, r, &r.Flaws)
	if err == nil && !l.found {
		err = discard.Errorf(jsonscan.ReasonNothingUsable, "client report without a list of events")
	}
	return r, err
}

func (r *ClientReport) event(l *reader, outcome string) {
	e := LostEvents{Outcome: outcome}
	LostEventEntries.read(l, &e)
	switch {
	case l.S.Err != nil:
	case !e.counted:
		r.Lose(ReasonReportNoQuantity, 1)
	default:
		e.counted = false
		r.Events = append(r.Events, e)
	}
}
