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

	Lost  []discard.Loss // unusable entries
	Flaws []discard.Flaw
}

// LostEvents is an entry of one of the report's four lists.
type LostEvents struct {
	Outcome  string // one of the Outcome constants, determined by the list that contains the entry
	Reason   string // sample_rate, before_send, queue_overflow, ratelimit_backoff, …
	Category string // a data category: error, transaction, span, log_byte, …
	Quantity int64  // items, or bytes for the categories that end in _byte
}

// Outcomes, with Relay's names. SDKs send only the first one.
const (
	OutcomeClientDiscard    = "client_discard"
	OutcomeRateLimited      = "rate_limited"
	OutcomeFiltered         = "filtered"
	OutcomeFilteredSampling = "filtered_sampling"
)

// outcomes maps the lists of a report to outcomes.
var outcomes = map[string]string{
	"discarded_events":         OutcomeClientDiscard,
	"rate_limited_events":      OutcomeRateLimited,
	"filtered_events":          OutcomeFiltered,
	"filtered_sampling_events": OutcomeFilteredSampling,
}

// ReasonReportNoQuantity: the entry has no quantity from 0 to 2^32-1, or is not an object.
const ReasonReportNoQuantity discard.Reason = "client_report_no_quantity"

// DecodeClientReport decodes the payload of a "client_report" item. The error is a *discard.Error.
func DecodeClientReport(payload []byte) (*ClientReport, error) {
	r := &ClientReport{}
	l := newReader(payload)
	found := false
	err := l.Document(func(key string) {
		switch outcome := outcomes[key]; {
		case outcome != "":
			found = true
			l.List(key, func() { r.event(&l, outcome) })
		case key == "timestamp":
			r.Timestamp = l.Time(key)
		default:
			l.S.Skip()
		}
	})
	r.Flaws = l.Flaws
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, discard.Errorf(jsonscan.ReasonNothingUsable, "client report without a list of events")
	}
	return r, nil
}

func (r *ClientReport) event(l *reader, outcome string) {
	e := LostEvents{Outcome: outcome}
	var quantity jsonscan.Optional[int64]
	l.Object("events", func(key string) {
		switch key {
		case "reason":
			e.Reason = l.Text(key)
		case "category":
			e.Category = l.Text(key)
		case "quantity":
			quantity = l.quantity(key)
		default:
			l.S.Skip()
		}
	})
	switch e.Quantity = quantity.Value; {
	case l.S.Err != nil:
	case !quantity.Set:
		r.Lost = discard.AddLoss(r.Lost, ReasonReportNoQuantity, 1)
	default:
		r.Events = append(r.Events, e)
	}
}
