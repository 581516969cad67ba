// SPDX-License-Identifier: Apache-2.0

package sentryitems

import (
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

func translateTraceMetrics(t *Translation, item *sentry.Item) Result {
	metrics, err := event.DecodeTraceMetrics(item.Payload, item.Header.ItemCount)
	if err != nil {
		return unusable(err)
	}
	out, lost := fromsentry.TraceMetricsToMetrics(metrics, pointSource(t))
	if lost > 0 {
		metrics.Flaws = discard.AddFlaw(metrics.Flaws, jsonscan.FieldTooMany, lost)
	}
	return Result{Elements: metrics.Lost, Fields: metrics.Flaws, Deliveries: one(pipeline.Metrics(out))}
}

func translateSession(t *Translation, item *sentry.Item) Result {
	session, err := event.DecodeSession(item.Payload)
	if err != nil {
		return unusable(err)
	}
	return Result{Fields: session.Flaws, Deliveries: one(pipeline.Metrics(fromsentry.SessionToMetrics(session, pointSource(t))))}
}

func translateSessions(t *Translation, item *sentry.Item) Result {
	sessions, err := event.DecodeSessions(item.Payload)
	if err != nil {
		return unusable(err)
	}
	return Result{Elements: sessions.Lost, Fields: sessions.Flaws,
		Deliveries: one(pipeline.Metrics(fromsentry.SessionsToMetrics(sessions, pointSource(t))))}
}

func translateClientReport(t *Translation, item *sentry.Item) Result {
	report, err := event.DecodeClientReport(item.Payload)
	if err != nil {
		return unusable(err)
	}
	return Result{Elements: report.Lost, Fields: report.Flaws,
		Deliveries: one(pipeline.Metrics(fromsentry.ClientReportToMetrics(report, pointSource(t))))}
}

// pointSource returns the source of items that become data points only. Their times are always
// corrected, as in ingest, because points have no attribute to say how wrong they are: it would
// create new series.
func pointSource(t *Translation) fromsentry.Source {
	src := t.source
	src.CorrectDrift = true
	return src
}

// addMeasurements adds the measurements of a profile, if it has any.
func addMeasurements(t *Translation, out *Result, subject profile.Subject, src fromsentry.Source) {
	if !t.has(pipeline.SignalMetrics) {
		return
	}
	var metrics pmetric.Metrics
	if subject.Chunk != nil {
		var lost int
		if metrics, lost = fromsentry.ChunkMeasurementsToMetrics(subject.Chunk, src); lost > 0 {
			out.Elements = append(out.Elements, discard.Loss{Reason: discard.ReasonTimeOutOfRange, Count: lost})
		}
	} else {
		metrics = fromsentry.ProfileMeasurementsToMetrics(subject.Profile, src)
	}
	if metrics.DataPointCount() > 0 {
		out.Deliveries = append(out.Deliveries, one(pipeline.Metrics(metrics))...)
	}
}
