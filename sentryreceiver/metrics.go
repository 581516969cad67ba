package sentryreceiver

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate"
)

func (in *ingestion) translateTraceMetrics(ctx context.Context, item *sentry.Item) ([]delivery, *sentry.Discard) {
	metrics, err := sentry.DecodeTraceMetrics(item.Payload, item.Header.ItemCount)
	if err != nil {
		return nil, discardOf(err)
	}
	in.telemetry.elementsLost(ctx, item.Header.Type, metrics.Lost)
	in.telemetry.fieldsLost(ctx, item.Header.Type, metrics.Flaws)
	return []delivery{in.metricsDelivery(item.Header.Type, translate.TraceMetricsToMetrics(metrics, in.source()))}, nil
}

func (in *ingestion) translateSession(ctx context.Context, item *sentry.Item) ([]delivery, *sentry.Discard) {
	session, err := sentry.DecodeSession(item.Payload)
	if err != nil {
		return nil, discardOf(err)
	}
	in.telemetry.fieldsLost(ctx, item.Header.Type, session.Flaws)
	return []delivery{in.metricsDelivery(item.Header.Type, translate.SessionToMetrics(session, in.source()))}, nil
}

func (in *ingestion) translateSessions(ctx context.Context, item *sentry.Item) ([]delivery, *sentry.Discard) {
	sessions, err := sentry.DecodeSessions(item.Payload)
	if err != nil {
		return nil, discardOf(err)
	}
	in.telemetry.elementsLost(ctx, item.Header.Type, sessions.Lost)
	in.telemetry.fieldsLost(ctx, item.Header.Type, sessions.Flaws)
	return []delivery{in.metricsDelivery(item.Header.Type, translate.SessionsToMetrics(sessions, in.source()))}, nil
}

func (in *ingestion) translateClientReport(ctx context.Context, item *sentry.Item) ([]delivery, *sentry.Discard) {
	report, err := sentry.DecodeClientReport(item.Payload)
	if err != nil {
		return nil, discardOf(err)
	}
	in.telemetry.elementsLost(ctx, item.Header.Type, report.Lost)
	in.telemetry.fieldsLost(ctx, item.Header.Type, report.Flaws)
	return []delivery{in.metricsDelivery(item.Header.Type, translate.ClientReportToMetrics(report, in.source()))}, nil
}

// measurements gives the delivery of the series that travel with a profile, if there are any.
func (in *ingestion) measurements(ctx context.Context, item *sentry.Item, subject sentry.Subject, src translate.Source) []delivery {
	if in.nextMetrics == nil {
		return nil
	}
	var metrics pmetric.Metrics
	if subject.Chunk != nil {
		var lost int
		if metrics, lost = translate.ChunkMeasurementsToMetrics(subject.Chunk, src); lost > 0 {
			in.telemetry.elementsLost(ctx, item.Header.Type, []sentry.Loss{{Reason: sentry.ReasonTimeOutOfRange, Count: lost}})
		}
	} else {
		metrics = translate.ProfileMeasurementsToMetrics(subject.Profile, src)
	}
	if metrics.DataPointCount() == 0 {
		return nil
	}
	return []delivery{in.metricsDelivery(item.Header.Type, metrics)}
}
