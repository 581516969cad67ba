package sentry

// ClientReport is the payload of a "client_report" item: what an SDK, or a Relay on the way, did not send.
// https://develop.sentry.dev/sdk/telemetry/client-reports/
type ClientReport struct {
	Timestamp Timestamp
	Events    []LostEvents

	Lost  []Loss // entries that could not be used
	Flaws []Flaw
}

// LostEvents is an entry of one of the report's four lists.
type LostEvents struct {
	Outcome  string // one of the Outcome constants: which list it was in
	Reason   string // sample_rate, before_send, queue_overflow, ratelimit_backoff, …
	Category string // a data category: error, transaction, span, log_byte, …
	Quantity int64  // items, or bytes for the categories that end in _byte
}

// The outcomes, by Relay's names. SDKs write the first only.
const (
	OutcomeClientDiscard    = "client_discard"
	OutcomeRateLimited      = "rate_limited"
	OutcomeFiltered         = "filtered"
	OutcomeFilteredSampling = "filtered_sampling"
)

// outcomes are the lists of a report.
var outcomes = map[string]string{
	"discarded_events":         OutcomeClientDiscard,
	"rate_limited_events":      OutcomeRateLimited,
	"filtered_events":          OutcomeFiltered,
	"filtered_sampling_events": OutcomeFilteredSampling,
}

// ReasonReportNoQuantity: an entry is dropped because it says no quantity from 0 to 2^32-1, or is no object.
const ReasonReportNoQuantity Reason = "client_report_no_quantity"

// DecodeClientReport decodes the payload of a "client_report" item. The error is a Discard.
func DecodeClientReport(payload []byte) (*ClientReport, error) {
	r := &ClientReport{}
	l := loose{s: scanner{data: payload}}
	found := false
	err := l.document(func(key string) {
		switch outcome := outcomes[key]; {
		case outcome != "":
			found = true
			l.list(key, func() { r.event(&l, outcome) })
		case key == "timestamp":
			r.Timestamp = l.time(key)
		default:
			l.s.skip()
		}
	})
	r.Flaws = l.flaws
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, discard(ReasonNothingUsable, "client report without a list of events")
	}
	return r, nil
}

func (r *ClientReport) event(l *loose, outcome string) {
	e := LostEvents{Outcome: outcome}
	var quantity Optional[int64]
	l.object("events", func(key string) {
		switch key {
		case "reason":
			e.Reason = l.text(key)
		case "category":
			e.Category = l.text(key)
		case "quantity":
			quantity = l.quantity(key)
		default:
			l.s.skip()
		}
	})
	switch e.Quantity = quantity.Value; {
	case l.s.err != nil:
	case !quantity.Set:
		r.Lost = addLoss(r.Lost, ReasonReportNoQuantity, 1)
	default:
		r.Events = append(r.Events, e)
	}
}
