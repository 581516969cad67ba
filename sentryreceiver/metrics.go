// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

func (t *translation) traceMetrics(item *sentry.Item) translated {
	metrics, err := event.DecodeTraceMetrics(item.Payload, item.Header.ItemCount)
	if err != nil {
		return unusable(err)
	}
	return translated{elements: metrics.Lost, fields: metrics.Flaws,
		deliveries: one(pipeline.Metrics(fromsentry.TraceMetricsToMetrics(metrics, t.source)))}
}

func (t *translation) session(item *sentry.Item) translated {
	session, err := event.DecodeSession(item.Payload)
	if err != nil {
		return unusable(err)
	}
	return translated{fields: session.Flaws, deliveries: one(pipeline.Metrics(fromsentry.SessionToMetrics(session, t.source)))}
}

func (t *translation) sessions(item *sentry.Item) translated {
	sessions, err := event.DecodeSessions(item.Payload)
	if err != nil {
		return unusable(err)
	}
	return translated{elements: sessions.Lost, fields: sessions.Flaws,
		deliveries: one(pipeline.Metrics(fromsentry.SessionsToMetrics(sessions, t.source)))}
}

func (t *translation) clientReport(item *sentry.Item) translated {
	report, err := event.DecodeClientReport(item.Payload)
	if err != nil {
		return unusable(err)
	}
	return translated{elements: report.Lost, fields: report.Flaws,
		deliveries: one(pipeline.Metrics(fromsentry.ClientReportToMetrics(report, t.source)))}
}

// addMeasurements adds the measurements of a profile, if it has any.
func (t *translation) addMeasurements(out *translated, subject profile.Subject, src fromsentry.Source) {
	if !t.has(pipeline.SignalMetrics) {
		return
	}
	var metrics pmetric.Metrics
	if subject.Chunk != nil {
		var lost int
		if metrics, lost = fromsentry.ChunkMeasurementsToMetrics(subject.Chunk, src); lost > 0 {
			out.elements = append(out.elements, discard.Loss{Reason: discard.ReasonTimeOutOfRange, Count: lost})
		}
	} else {
		metrics = fromsentry.ProfileMeasurementsToMetrics(subject.Profile, src)
	}
	if metrics.DataPointCount() > 0 {
		out.deliveries = append(out.deliveries, one(pipeline.Metrics(metrics))...)
	}
}
