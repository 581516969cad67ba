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

// TraceMetricsToMetrics translates a metric container. SDKs do not aggregate: each element is one
// recording. Counters and distributions with the same name, type, unit and attributes are
// aggregated into one data point without loss; each value of a gauge is kept.
//
// Attributes of recordings (attr.OfRecording) are on exemplars, of which a point has a limited
// number. It returns the number of attributes that have no exemplar.
//
// A point covers the time from its first to its last recording, because payloads do not state the
// time of the previous flush.
func TraceMetricsToMetrics(c *event.MetricContainer, src Source) (out pmetric.Metrics, lost int) {
	id := firstIdentity(c.Metrics, func(m *event.TraceMetric) []event.Attribute { return m.Attributes }, src)
	out, scope := newMetrics(id, src)
	groups := metricGroups{infer: inferenceOf(c.Infers())}
	for i := range c.Metrics {
		groups.add(&c.Metrics[i], &id, src)
	}
	return out, groups.write(scope, src)
}

// CheckInToMetrics translates a check-in: an update about the run of a scheduled job, with the
// duration of a finished run.
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

// ClientReportToMetrics translates a client report, which counts the data that an SDK dropped, by
// reason and category. It covers the time since the previous report, whose time it does not state.
func ClientReportToMetrics(r *event.ClientReport, src Source) pmetric.Metrics {
	out, scope := newMetrics(recalled(attr.Identity{}, src), src)
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

// instant returns the time of a recording or, if it is missing, the time of receipt.
func instant(t jsonscan.Timestamp, src Source) uint64 {
	if t.Set {
		return src.unixNano(t)
	}
	return src.ReceivedNano
}
