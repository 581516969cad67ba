package sentryexporter

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.opentelemetry.io/collector/exporter/xexporter"
)

// The exporter of contrib that is called "sentry" may be in the same build.
var componentType = component.MustNewType("sentry_envelope")

// stability is that of all signals.
const stability = component.StabilityLevelDevelopment

// NewFactory creates the factory of the exporter.
func NewFactory() xexporter.Factory {
	return xexporter.NewFactory(componentType, createDefaultConfig,
		xexporter.WithProfiles(createProfiles, stability),
		xexporter.WithTraces(createTraces, stability))
}

func createProfiles(ctx context.Context, set exporter.Settings, cfg component.Config) (xexporter.Profiles, error) {
	e, err := newSentryExporter(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	e.profiled.Store(true)
	return xexporterhelper.NewProfilesRequest(ctx, set, e.convertProfiles, e.push, e.options()...)
}

func createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	e, err := newSentryExporter(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return xexporterhelper.NewTracesRequest(ctx, set, e.convertTraces, e.push, e.options()...)
}

// options are those of all signals. There is no timeout for a request of the queue, which may hold many envelopes: the HTTP
// client has one for each.
func (e *sentryExporter) options() []exporterhelper.Option {
	return []exporterhelper.Option{
		exporterhelper.WithStart(e.start),
		exporterhelper.WithShutdown(e.shutdown),
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{Timeout: 0}),
		exporterhelper.WithRetry(e.cfg.Retry),
		xexporterhelper.WithQueueBatch(e.cfg.Queue, xexporterhelper.QueueBatchSettings{Encoding: requestEncoding{e.unreadable}}),
	}
}
