// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.opentelemetry.io/collector/exporter/xexporter"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
)

var componentType = component.MustNewType("profile_viewer")

// stability is the stability level of all signals.
const stability = component.StabilityLevelDevelopment

// NewFactory returns the factory of the exporter.
func NewFactory() exporter.Factory {
	return xexporter.NewFactory(componentType, createDefaultConfig,
		xexporter.WithProfiles(createProfiles, stability),
		xexporter.WithTraces(createTraces, stability),
		xexporter.WithLogs(createLogs, stability),
		xexporter.WithMetrics(createMetrics, stability))
}

// createProfiles declares MutatesData: marshaling modifies profiles that are not read-only. The
// collector then copies profiles that other components share.
func createProfiles(ctx context.Context, set exporter.Settings, cfg component.Config) (xexporter.Profiles, error) {
	viewer, err := acquire(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return xexporterhelper.NewProfiles(ctx, set, cfg, viewer.Shared.consumeProfiles, append(options(viewer),
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}))...)
}

func createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	viewer, err := acquire(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewTraces(ctx, set, cfg, viewer.Shared.consumeTraces, options(viewer)...)
}

func createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	viewer, err := acquire(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewLogs(ctx, set, cfg, viewer.Shared.consumeLogs, options(viewer)...)
}

func createMetrics(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Metrics, error) {
	viewer, err := acquire(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewMetrics(ctx, set, cfg, viewer.Shared.consumeMetrics, options(viewer)...)
}

// acquire returns the viewer of a configuration, for one more exporter.
func acquire(cfg *Config, set exporter.Settings) (*collector.SharedComponent[*viewer], error) {
	return viewers.Acquire(cfg, func() (*viewer, error) { return newViewer(cfg, set) })
}

// options returns the options of the exporters of all signals. There is no queue: storing a message
// is faster than queueing it. The last exporter to shut down stops the viewer: before the exporter
// of its signal, a processor shuts down, which forwards the messages that it holds.
func options(viewer *collector.SharedComponent[*viewer]) []exporterhelper.Option {
	release := sync.OnceValue(func() (last bool) { return viewers.Release(viewer.Shared.cfg, viewer) })
	return []exporterhelper.Option{exporterhelper.WithStart(viewer.Start), exporterhelper.WithShutdown(func(ctx context.Context) error {
		if !release() {
			return nil
		}
		return viewer.Shutdown(ctx)
	})}
}
