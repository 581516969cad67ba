package translate

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// Release health. A client sends updates of one session, each of which states the whole session anew, and a server sends how
// many began in a minute and how they ended. Both become the same two counts: how many began, once for each session, and how
// many ended, by status, so that the share without a crash is 1 - count{status=crashed} / started.
//
// Translation remembers nothing, hence counts nothing that two updates of one session may both state: what a session says of
// its errors and duration is taken from the update that ends it.

// SessionToMetrics translates one update of a session.
func SessionToMetrics(s *sentry.Session, src Source) pmetric.Metrics {
	out, scope := newMetrics(identity{release: s.Release, environment: s.Environment}.completed(src), src)
	at := instant(s.Timestamp, src)
	putText(newCount(scope, metricSessionUpdates, at, at, 1).Attributes(), keySessionStatus, s.Status)
	if s.Init {
		newCount(scope, metricSessionsStarted, at, at, 1)
	}
	if s.Status == sentry.SessionOngoing {
		return out
	}

	status, errors := s.Status, s.Errors
	if status == statusCrashed {
		errors = max(errors, 1) // as Relay has it: the crash is one
	}
	if status == statusExited && errors > 0 {
		status = statusErrored // the word of aggregates, where "exited" are those without errors
	}
	attributes := func(m pcommon.Map) {
		putText(m, keySessionStatus, status)
		putText(m, keyAbnormalMechanism, s.AbnormalMechanism)
	}
	attributes(newCount(scope, metricSessions, at, at, 1).Attributes())
	attributes(newCount(scope, metricSessionErrors, at, at, errors).Attributes())
	if s.Duration.Set {
		attributes(newDuration(scope, metricSessionDuration, at, s.Duration.Value).Attributes())
	}
	return out
}

// SessionsToMetrics translates aggregates. They say nothing of durations, nor of how many errors a session had.
func SessionsToMetrics(s *sentry.Sessions, src Source) pmetric.Metrics {
	out, scope := newMetrics(identity{release: s.Release, environment: s.Environment}.completed(src), src)
	started := countSeries{scope: scope, metric: metricSessionsStarted}
	ended := countSeries{scope: scope, metric: metricSessions}
	for _, a := range s.Aggregates {
		start, end := aggregateRange(a, src)
		started.add(pcommon.NewMap(), start, end, a.Exited+a.Errored+a.Abnormal+a.Crashed+a.Unhandled)
		for _, of := range []struct {
			status string
			count  int64
		}{
			{statusExited, a.Exited}, {statusErrored, a.Errored}, {statusAbnormal, a.Abnormal},
			{statusCrashed, a.Crashed}, {statusUnhandled, a.Unhandled},
		} {
			if of.count > 0 {
				attributes := pcommon.NewMap()
				attributes.PutStr(keySessionStatus, of.status)
				ended.add(attributes, start, end, of.count)
			}
		}
	}
	return out
}

// aggregateRange is the minute in which the sessions began, as far as it has passed. SDKs send what they have of a minute
// and the rest of it later: the ends differ, which tells the points apart.
func aggregateRange(a sentry.SessionAggregate, src Source) (start, end uint64) {
	start = instant(a.Started, src)
	end = start + nanosPerMinute
	if start <= src.ReceivedNano && src.ReceivedNano < end {
		end = src.ReceivedNano
	}
	return start, end
}
