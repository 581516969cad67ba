// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Release health. Clients send updates of a session, each with its complete state. Servers send the
// number of sessions that began in a minute, by outcome. Both become the same two counts: started
// sessions, and ended sessions by status. The crash-free rate is 1 - count{status=crashed} /
// started.
//
// The translation is stateless, so it must not count data that two updates of a session repeat. It
// reads errors and duration only from the update that ends the session.
//
// Sentry counts errored sessions by ID, and also sessions that never end, such as those of most
// browsers. For the way back, an update that is not the only one of its session is an exemplar.

// SessionToMetrics translates one update of a session.
func SessionToMetrics(s *event.Session, src Source) pmetric.Metrics {
	out, scope := newMetrics(recalled(attr.Identity{Release: s.Release, Environment: s.Environment}, src), src)
	at := instant(s.Timestamp, src)
	update := newCount(scope, attr.MetricSessionUpdates, at, at, 1)
	attr.PutText(update.Attributes(), semconv.SentrySessionStatus, s.Status)
	if m, ok := newSessionExemplar(update, s); ok {
		if s.Init {
			m.PutBool(semconv.SentrySessionInit, true)
		}
		if s.Errors > 0 {
			m.PutInt(semconv.SentrySessionErrorCount, s.Errors)
		}
		m.PutInt(semconv.SentrySessionStartTimeUnixNano, int64(instant(s.Started, src)))
		attr.PutText(m, semconv.SentrySessionAbnormalMechanism, s.AbnormalMechanism)
	}
	if s.Init {
		newCount(scope, attr.MetricSessionsStarted, at, at, 1)
	}
	if s.Status == event.SessionOngoing {
		return out
	}

	status, errors := s.Status, s.Errors
	if status == attr.StatusCrashed {
		errors = max(errors, 1) // as in Relay: a crash is an error
	}
	if status == attr.StatusExited && errors > 0 {
		status = attr.StatusErrored // as in aggregates, where "exited" means without errors
	}
	attributes := func(m pcommon.Map) {
		attr.PutText(m, semconv.SentrySessionStatus, status)
		attr.PutText(m, semconv.SentrySessionAbnormalMechanism, s.AbnormalMechanism)
	}
	ended := newCount(scope, attr.MetricSessions, at, at, 1)
	attributes(ended.Attributes())
	newSessionExemplar(ended, s) // the way back counts it once
	attributes(newCount(scope, attr.MetricSessionErrors, at, at, errors).Attributes())
	if s.Duration.Set {
		attributes(newDuration(scope, attr.MetricSessionDuration, at, s.Duration.Value).Attributes())
	}
	return out
}

// newSessionExemplar adds an exemplar with the ID of the session, if it needs one for the way back.
// Ingest rejects IDs that are not UUIDs.
func newSessionExemplar(point pmetric.NumberDataPoint, s *event.Session) (m pcommon.Map, ok bool) {
	if _, isUUID := sentry.ParseID(s.ID); s.IsWhole() || !s.Started.Set || !isUUID {
		return m, false
	}
	exemplar := point.Exemplars().AppendEmpty()
	exemplar.SetTimestamp(point.Timestamp())
	exemplar.SetIntValue(1)
	attr.PutText(exemplar.FilteredAttributes(), semconv.SessionID, s.ID)
	return exemplar.FilteredAttributes(), true
}

// SessionsToMetrics translates aggregates, which contain neither durations nor error counts.
func SessionsToMetrics(s *event.Sessions, src Source) pmetric.Metrics {
	out, scope := newMetrics(recalled(attr.Identity{Release: s.Release, Environment: s.Environment}, src), src)
	started := countSeries{scope: scope, metric: attr.MetricSessionsStarted}
	ended := countSeries{scope: scope, metric: attr.MetricSessions}
	for _, a := range s.Aggregates {
		start, end := aggregateRange(a, src)
		started.add(pcommon.NewMap(), start, end, a.Exited+a.Errored+a.Abnormal+a.Crashed+a.Unhandled)
		counts := pcommon.NewMap() // by status
		attr.PutMembers(counts, event.SessionAggregates, &a)
		for status, count := range counts.All() {
			attributes := pcommon.NewMap()
			attributes.PutStr(semconv.SentrySessionStatus, status)
			ended.add(attributes, start, end, count.Int())
		}
	}
	return out
}

// aggregateRange returns the time range from the minute in which the sessions began to the time of
// receipt. SDKs send the sessions of a minute in several parts; different end times distinguish
// their points.
func aggregateRange(a event.SessionAggregate, src Source) (start, end uint64) {
	start = instant(a.Started, src)
	end = start + attr.NanosPerMinute
	if start <= src.ReceivedNano && src.ReceivedNano < end {
		end = src.ReceivedNano
	}
	return start, end
}
