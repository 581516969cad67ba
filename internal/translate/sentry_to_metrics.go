package translate

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// TraceMetricsToMetrics translates a metric container. SDKs aggregate nothing: each element is one recording. Those of one
// name, type, unit and attributes become one data point where that loses nothing, which is to say counters and
// distributions; of a gauge each value is kept.
//
// A point lasts from its first recording to its last: when the SDK flushed before is in no payload.
func TraceMetricsToMetrics(c *sentry.MetricContainer, src Source) pmetric.Metrics {
	shared := metricIdentity(c, src)
	out, scope := newMetrics(shared.identity, src)
	groups := metricGroups{}
	for i := range c.Metrics {
		groups.add(&c.Metrics[i], &shared, src)
	}
	groups.write(scope, src)
	return out
}

// CheckInToMetrics translates a check-in: one update of one run of a scheduled job, and how long the run took once it is over.
func CheckInToMetrics(c *sentry.CheckIn, src Source) pmetric.Metrics {
	out, scope := newMetrics(checkInIdentity(c, src), src)
	at := instant(c.Timestamp, src)
	attributes := func(m pcommon.Map) {
		putText(m, keyMonitorSlug, c.MonitorSlug)
		putText(m, keyCheckInStatus, c.Status)
	}
	attributes(newCount(scope, metricCheckIns, at, at, 1).Attributes())
	if c.Duration.Set && c.Duration.Value >= 0 {
		attributes(newDuration(scope, metricCheckInDuration, at, c.Duration.Value).Attributes())
	}
	return out
}

// ClientReportToMetrics translates a client report: what an SDK did not send, by reason and category. The report covers the
// time since the one before, of which it says nothing.
func ClientReportToMetrics(r *sentry.ClientReport, src Source) pmetric.Metrics {
	out, scope := newMetrics(identity{}.completed(src), src)
	at := instant(r.Timestamp, src)
	counts := countSeries{scope: scope, metric: metricDiscarded}
	for _, e := range r.Events {
		attributes := pcommon.NewMap()
		putText(attributes, keyDiscardReason, e.Reason)
		putText(attributes, keyDiscardCategory, e.Category)
		putText(attributes, keyDiscardOutcome, e.Outcome)
		counts.add(attributes, at, at, e.Quantity)
	}
	return out
}

func metricIdentity(c *sentry.MetricContainer, src Source) sharedAttributes {
	if len(c.Metrics) == 0 {
		return firstIdentity(nil, src)
	}
	return firstIdentity(c.Metrics[0].Attributes, src)
}

// instant is when something was recorded; of what does not say, when it arrived.
func instant(t sentry.Timestamp, src Source) uint64 {
	if t.Set {
		return src.unixNano(t)
	}
	return src.ReceivedNano
}
