// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// ownMetrics collects the metrics that the receiver derived from sessions and client reports. It is
// the inverse of fromsentry.SessionsToMetrics and ClientReportToMetrics.
type ownMetrics struct {
	sessions []event.SessionAggregate
	reports  []event.ClientReport
	byStart  map[uint64]int // index of sessions
	byTime   map[uint64]int // index of reports
}

// take collects a metric if the receiver derived it, and reports whether it did.
func (o *ownMetrics) take(e *exporter, metric pmetric.Metric) bool {
	switch name := metric.Name(); {
	case metric.Type() == pmetric.MetricTypeSum && name == semconv.MetricSentrySessionCount:
		for _, data := range metric.Sum().DataPoints().All() {
			o.session(data)
		}
	case metric.Type() == pmetric.MetricTypeSum && name == semconv.MetricSentryClientReportDiscarded:
		for _, data := range metric.Sum().DataPoints().All() {
			o.report(e, data)
		}
	case inOtherItems[name], strings.HasPrefix(name, semconv.MetricSentryProfilePrefix):
		e.Lost = discard.AddLoss(e.Lost, ReasonInOtherItem, pointsOf(metric))
	default:
		return false
	}
	return true
}

// inOtherItems are metrics that are not needed to restore their items: session counts contain the
// same data as starts and updates, and check-ins are restored from log records.
var inOtherItems = map[string]bool{
	semconv.MetricSentrySessionUpdates: true, semconv.MetricSentrySessionStarted: true, semconv.MetricSentrySessionErrors: true,
	semconv.MetricSentrySessionDuration: true, semconv.MetricSentryCheckInCount: true, semconv.MetricSentryCheckInDuration: true,
}

// session adds a count of ended sessions to the aggregate of its minute.
func (o *ownMetrics) session(data pmetric.NumberDataPoint) {
	at := uint64(data.StartTimestamp())
	if at == 0 {
		at = uint64(data.Timestamp())
	}
	at -= at % attr.NanosPerMinute
	i, known := o.byStart[at]
	if !known {
		if o.byStart == nil {
			o.byStart = map[uint64]int{}
		}
		i = len(o.sessions)
		o.byStart[at] = i
		o.sessions = append(o.sessions, event.SessionAggregate{Started: jsonscan.Timestamp{UnixNano: at, Set: true}})
	}
	a := &o.sessions[i]
	counts := map[string]*int64{
		attr.StatusExited: &a.Exited, attr.StatusErrored: &a.Errored, attr.StatusAbnormal: &a.Abnormal, attr.StatusCrashed: &a.Crashed,
		attr.StatusUnhandled: &a.Unhandled,
	}
	count := counts[attr.TextOf(data.Attributes(), semconv.SentrySessionStatus)]
	if count == nil {
		count = &a.Exited // Sentry counts unknown statuses as healthy
	}
	*count += data.IntValue()
}

// report adds an entry to the client report of its time.
func (o *ownMetrics) report(e *exporter, data pmetric.NumberDataPoint) {
	at := e.timestamp(data.Timestamp())
	i, known := o.byTime[at.UnixNano]
	if !known {
		if o.byTime == nil {
			o.byTime = map[uint64]int{}
		}
		i = len(o.reports)
		o.byTime[at.UnixNano] = i
		o.reports = append(o.reports, event.ClientReport{Timestamp: at})
	}
	attrs := data.Attributes()
	text := func(key string) string { return attr.TextOf(attrs, key) }
	o.reports[i].Events = append(o.reports[i].Events, event.LostEvents{
		Outcome: attr.FirstText(text(semconv.SentryClientReportOutcome), event.OutcomeClientDiscard), Reason: text(semconv.SentryClientReportReason),
		Category: text(semconv.SentryClientReportCategory), Quantity: data.IntValue(),
	})
}

// write adds the collected items.
func (o *ownMetrics) write(e *exporter, s *source) {
	if n := len(o.sessions); n > 0 && s.Release == "" {
		e.Lost = discard.AddLoss(e.Lost, ReasonNoRelease, n)
		o.sessions = nil
	}
	for part := range slices.Chunk(o.sessions, maxAggregates) {
		e.add(sentry.ItemSessions, "", event.AppendSessions(nil, &event.Sessions{Aggregates: part, Release: s.Release, Environment: s.Environment}))
	}
	for i := range o.reports {
		e.add(sentry.ItemClientReport, "", event.AppendClientReport(nil, &o.reports[i]))
	}
}

// maxAggregates bounds the aggregates of an item. Sentry accepts 100.
const maxAggregates = 100
