package profileviewerexporter

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.opentelemetry.io/collector/exporter/xexporter"
)

var componentType = component.MustNewType("profile_viewer")

// stability is that of all signals.
const stability = component.StabilityLevelDevelopment

// NewFactory creates the factory of the exporter.
func NewFactory() xexporter.Factory {
	return xexporter.NewFactory(componentType, createDefaultConfig,
		xexporter.WithProfiles(createProfiles, stability),
		xexporter.WithTraces(createTraces, stability),
		xexporter.WithLogs(createLogs, stability))
}

// Profiles are marshaled, which changes those that are not read-only: the collector gives us a copy where others want them too.
func createProfiles(ctx context.Context, set exporter.Settings, cfg component.Config) (xexporter.Profiles, error) {
	shared, err := acquire(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return xexporterhelper.NewProfiles(ctx, set, cfg, shared.keepProfiles, append(shared.options(),
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}))...)
}

func createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	shared, err := acquire(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewTraces(ctx, set, cfg, shared.keepTraces, shared.options()...)
}

func createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	shared, err := acquire(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewLogs(ctx, set, cfg, shared.keepLogs, shared.options()...)
}
