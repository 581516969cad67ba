// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// TraceMetricsToMetrics translates a metric container. SDKs aggregate nothing: each element is one recording. Those of one
// name, type, unit and attributes become one data point where that loses nothing, which is to say counters and
// distributions; of a gauge each value is kept.
//
// A point lasts from its first recording to its last: when the SDK flushed before is in no payload.
func TraceMetricsToMetrics(c *event.MetricContainer, src Source) pmetric.Metrics {
	shared := metricIdentity(c, src)
	out, scope := newMetrics(shared.Identity, src)
	groups := metricGroups{}
	for i := range c.Metrics {
		groups.add(&c.Metrics[i], &shared, src)
	}
	groups.write(scope, src)
	return out
}

// CheckInToMetrics translates a check-in: one update of one run of a scheduled job, and how long the run took once it is over.
func CheckInToMetrics(c *event.CheckIn, src Source) pmetric.Metrics {
	out, scope := newMetrics(checkInIdentity(c, src), src)
	at := instant(c.Timestamp, src)
	attributes := func(m pcommon.Map) {
		attr.PutText(m, semconv.SentryMonitorSlug, c.MonitorSlug)
		attr.PutText(m, semconv.SentryCheckInStatus, c.Status)
	}
	attributes(newCount(scope, attr.MetricCheckIns, at, at, 1).Attributes())
	if c.Duration.Set && c.Duration.Value >= 0 {
		attributes(newDuration(scope, attr.MetricCheckInDuration, at, c.Duration.Value).Attributes())
	}
	return out
}

// ClientReportToMetrics translates a client report: what an SDK did not send, by reason and category. The report covers the
// time since the one before, of which it says nothing.
func ClientReportToMetrics(r *event.ClientReport, src Source) pmetric.Metrics {
	out, scope := newMetrics(completed(attr.Identity{}, src), src)
	at := instant(r.Timestamp, src)
	counts := countSeries{scope: scope, metric: attr.MetricDiscarded}
	for _, e := range r.Events {
		attributes := pcommon.NewMap()
		attr.PutText(attributes, semconv.SentryClientReportReason, e.Reason)
		attr.PutText(attributes, semconv.SentryClientReportCategory, e.Category)
		attr.PutText(attributes, semconv.SentryClientReportOutcome, e.Outcome)
		counts.add(attributes, at, at, e.Quantity)
	}
	return out
}

func metricIdentity(c *event.MetricContainer, src Source) sharedAttributes {
	if len(c.Metrics) == 0 {
		return firstIdentity(nil, src)
	}
	return firstIdentity(c.Metrics[0].Attributes, src)
}

// instant is when something was recorded; of what does not say, when it arrived.
func instant(t jsonscan.Timestamp, src Source) uint64 {
	if t.Set {
		return src.unixNano(t)
	}
	return src.ReceivedNano
}
