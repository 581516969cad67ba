// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// ownMetrics collects the metrics that the receiver derived from sessions and client reports. It is
// the inverse of fromsentry.SessionToMetrics, SessionsToMetrics and ClientReportToMetrics.
type ownMetrics struct {
	updates  []event.Session
	sessions []event.SessionAggregate
	reports  []event.ClientReport
	byStart  map[uint64]int // index of sessions
	byTime   map[uint64]int // index of reports
}

// take collects a metric if the receiver derived it, and reports whether it did.
func (o *ownMetrics) take(e *exporter, metric pmetric.Metric) bool {
	name := metric.Name()
	var collect func(*exporter, pmetric.NumberDataPoint)
	switch isSum := metric.Type() == pmetric.MetricTypeSum; {
	case inOtherItems[name], strings.HasPrefix(name, semconv.MetricSentryProfilePrefix):
		e.Lose(ReasonInOtherItem, pointsOf(metric))
		return true
	case isSum && name == semconv.MetricSentrySessionCount:
		collect = o.session
	case isSum && name == semconv.MetricSentryClientReportDiscarded:
		collect = o.report
	case isSum && name == semconv.MetricSentrySessionUpdates:
		collect = o.update
	default:
		return false
	}
	for _, data := range metric.Sum().DataPoints().All() {
		collect(e, data)
	}
	return true
}

// indexed returns the element of a list with a key. If there is none, it appends one.
func indexed[V any](index *map[uint64]int, all *[]V, key uint64, added V) *V {
	i, known := (*index)[key]
	if !known {
		if *index == nil {
			*index = map[uint64]int{}
		}
		i = len(*all)
		(*index)[key] = i
		*all = append(*all, added)
	}
	return &(*all)[i]
}

// inOtherItems are metrics that are not needed to restore their items: session counts contain the
// same data as starts and updates, and check-ins are restored from log records.
var inOtherItems = map[string]bool{
	semconv.MetricSentrySessionStarted: true, semconv.MetricSentrySessionErrors: true,
	semconv.MetricSentrySessionDuration: true, semconv.MetricSentryCheckInCount: true, semconv.MetricSentryCheckInDuration: true,
}

// update adds the updates that a point states in exemplars.
func (o *ownMetrics) update(e *exporter, data pmetric.NumberDataPoint) {
	before := len(o.updates)
	for _, exemplar := range data.Exemplars().All() {
		attrs := exemplar.FilteredAttributes()
		id := sessionID(exemplar)
		if id == "" {
			continue
		}
		number := func(key string) int64 {
			if value, ok := attrs.Get(key); ok {
				return max(value.Int(), 0)
			}
			return 0
		}
		o.updates = append(o.updates, event.Session{
			ID: id, Init: attr.TextOf(attrs, semconv.SentrySessionInit) == "true", Status: attr.TextOf(data.Attributes(), semconv.SentrySessionStatus),
			Started:   e.timestamp(pcommon.Timestamp(number(semconv.SentrySessionStartTimeUnixNano)), exemplar.Timestamp(), data.Timestamp()),
			Timestamp: e.timestamp(exemplar.Timestamp(), data.Timestamp()),
			Errors:    number(semconv.SentrySessionErrorCount), AbnormalMechanism: attr.TextOf(attrs, semconv.SentrySessionAbnormalMechanism),
		})
	}
	if len(o.updates) == before {
		e.Lose(ReasonInOtherItem, 1)
	}
}

// sessionID returns the ID of the session of an exemplar, or "" if ingest would reject it.
func sessionID(exemplar pmetric.Exemplar) string {
	id := attr.TextOf(exemplar.FilteredAttributes(), semconv.SessionID)
	if _, isUUID := sentry.ParseID(id); !isUUID {
		return ""
	}
	return attr.SimpleID(id)
}

// session adds a count of ended sessions to the aggregate of its minute, except those that updates
// state.
func (o *ownMetrics) session(_ *exporter, data pmetric.NumberDataPoint) {
	ended := data.IntValue()
	for _, exemplar := range data.Exemplars().All() {
		if sessionID(exemplar) != "" {
			ended--
		}
	}
	if ended <= 0 {
		return
	}
	at := uint64(data.StartTimestamp())
	if at == 0 {
		at = uint64(data.Timestamp())
	}
	at -= at % attr.NanosPerMinute
	a := indexed(&o.byStart, &o.sessions, at, event.SessionAggregate{Started: jsonscan.Timestamp{UnixNano: at, Set: true}})
	counts := map[string]*int64{
		attr.StatusExited: &a.Exited, attr.StatusErrored: &a.Errored, attr.StatusAbnormal: &a.Abnormal, attr.StatusCrashed: &a.Crashed,
		attr.StatusUnhandled: &a.Unhandled,
	}
	count := counts[attr.TextOf(data.Attributes(), semconv.SentrySessionStatus)]
	if count == nil {
		count = &a.Exited // Sentry counts unknown statuses as healthy
	}
	*count += ended
}

// report adds an entry to the client report of its time.
func (o *ownMetrics) report(e *exporter, data pmetric.NumberDataPoint) {
	at := e.timestamp(data.Timestamp())
	report := indexed(&o.byTime, &o.reports, at.UnixNano, event.ClientReport{Timestamp: at})
	attrs := data.Attributes()
	text := func(key string) string { return attr.TextOf(attrs, key) }
	report.Events = append(report.Events, event.LostEvents{
		Outcome: attr.FirstText(text(semconv.SentryClientReportOutcome), event.OutcomeClientDiscard), Reason: text(semconv.SentryClientReportReason),
		Category: text(semconv.SentryClientReportCategory), Quantity: data.IntValue(),
	})
}

func (o *ownMetrics) write(e *exporter, s *source) {
	if n := len(o.sessions) + len(o.updates); n > 0 && s.Release == "" {
		e.Lose(ReasonNoRelease, n)
		o.sessions, o.updates = nil, nil
	}
	for i := range o.updates {
		if !e.copies.Spend(s.names) {
			e.Lose(ReasonOutputLimit, 1)
			continue
		}
		o.updates[i].Release, o.updates[i].Environment = s.Release, s.Environment
		e.addOf(s, s.Sdk, sentry.ItemSession, event.SessionUpdates.Append(nil, &o.updates[i]))
	}
	for part := range slices.Chunk(o.sessions, maxAggregates) {
		e.addOf(s, s.Sdk, sentry.ItemSessions, event.SessionCounts.Append(nil, &event.Sessions{Aggregates: part, Release: s.Release, Environment: s.Environment}))
	}
	for i := range o.reports {
		e.add(sentry.ItemClientReport, "", event.ClientReports.Append(nil, &o.reports[i]))
	}
}

// maxAggregates bounds the aggregates of an item. Sentry accepts 100.
const maxAggregates = 100
