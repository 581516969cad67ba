// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

func (in *ingestion) translateTraceMetrics(ctx context.Context, item *sentry.Item) ([]delivery, *discard.Error) {
	metrics, err := event.DecodeTraceMetrics(item.Payload, item.Header.ItemCount)
	if err != nil {
		return nil, discardOf(err)
	}
	in.telemetry.elementsLost(ctx, item.Header.Type, metrics.Lost)
	in.telemetry.fieldsLost(ctx, item.Header.Type, metrics.Flaws)
	return []delivery{in.metricsDelivery(item.Header.Type, fromsentry.TraceMetricsToMetrics(metrics, in.source()))}, nil
}

func (in *ingestion) translateSession(ctx context.Context, item *sentry.Item) ([]delivery, *discard.Error) {
	session, err := event.DecodeSession(item.Payload)
	if err != nil {
		return nil, discardOf(err)
	}
	in.telemetry.fieldsLost(ctx, item.Header.Type, session.Flaws)
	return []delivery{in.metricsDelivery(item.Header.Type, fromsentry.SessionToMetrics(session, in.source()))}, nil
}

func (in *ingestion) translateSessions(ctx context.Context, item *sentry.Item) ([]delivery, *discard.Error) {
	sessions, err := event.DecodeSessions(item.Payload)
	if err != nil {
		return nil, discardOf(err)
	}
	in.telemetry.elementsLost(ctx, item.Header.Type, sessions.Lost)
	in.telemetry.fieldsLost(ctx, item.Header.Type, sessions.Flaws)
	return []delivery{in.metricsDelivery(item.Header.Type, fromsentry.SessionsToMetrics(sessions, in.source()))}, nil
}

func (in *ingestion) translateClientReport(ctx context.Context, item *sentry.Item) ([]delivery, *discard.Error) {
	report, err := event.DecodeClientReport(item.Payload)
	if err != nil {
		return nil, discardOf(err)
	}
	in.telemetry.elementsLost(ctx, item.Header.Type, report.Lost)
	in.telemetry.fieldsLost(ctx, item.Header.Type, report.Flaws)
	return []delivery{in.metricsDelivery(item.Header.Type, fromsentry.ClientReportToMetrics(report, in.source()))}, nil
}

// measurements gives the delivery of the series that travel with a profile, if there are any.
func (in *ingestion) measurements(ctx context.Context, item *sentry.Item, subject profile.Subject, src fromsentry.Source) []delivery {
	if in.nextMetrics == nil {
		return nil
	}
	var metrics pmetric.Metrics
	if subject.Chunk != nil {
		var lost int
		if metrics, lost = fromsentry.ChunkMeasurementsToMetrics(subject.Chunk, src); lost > 0 {
			in.telemetry.elementsLost(ctx, item.Header.Type, []discard.Loss{{Reason: discard.ReasonTimeOutOfRange, Count: lost}})
		}
	} else {
		metrics = fromsentry.ProfileMeasurementsToMetrics(subject.Profile, src)
	}
	if metrics.DataPointCount() == 0 {
		return nil
	}
	return []delivery{in.metricsDelivery(item.Header.Type, metrics)}
}
