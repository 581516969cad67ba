// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/toissues"
)

// The type differs from that of contrib's "sentry" exporter, which may be in the same build.
var componentType = component.MustNewType("sentry_envelope")

// stability is the stability level of all signals.
const stability = component.StabilityLevelDevelopment

// NewFactory returns the factory of the exporter.
func NewFactory() xexporter.Factory {
	return xexporter.NewFactory(componentType, createDefaultConfig,
		xexporter.WithProfiles(createProfiles, stability),
		xexporter.WithTraces(createTraces, stability),
		xexporter.WithLogs(createLogs, stability),
		xexporter.WithMetrics(createMetrics, stability))
}

type profilesExporter struct{ *sentryExporter }

// ConsumeProfiles implements consumer.Profiles.
func (e profilesExporter) ConsumeProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	requests, err := e.convertProfiles(ctx, profiles)
	if err != nil {
		return err
	}
	return e.enqueue(ctx, requests)
}

func createProfiles(ctx context.Context, set exporter.Settings, cfg component.Config) (xexporter.Profiles, error) {
	e, err := newSentryExporter(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	e.profiled.Store(true)
	for _, category := range []sentry.Category{sentry.CategoryProfileChunk, sentry.CategoryProfileChunkUI} {
		if err := e.addProfilesQueue(ctx, category); err != nil {
			return nil, err
		}
	}
	return profilesExporter{e}, nil
}

func (e *sentryExporter) addProfilesQueue(ctx context.Context, category sentry.Category) error {
	q := e.addQueue(category)
	profiles, err := xexporterhelper.NewProfilesRequest(ctx, q.queueSettings(), requestOf[pprofile.Profiles], q.push, q.options()...)
	if err != nil {
		return err
	}
	q.helper = profiles
	q.consume = func(ctx context.Context) error { return profiles.ConsumeProfiles(ctx, pprofile.NewProfiles()) }
	return nil
}

type tracesExporter struct{ *sentryExporter }

// ConsumeTraces implements consumer.Traces.
func (e tracesExporter) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	requests, tooLarge := e.convertTraces(ctx, traces)
	issues, err := e.convertIssues(ctx, toissues.FromTraces(traces, e.issueOptions()))
	if err != nil {
		return err
	}
	err = e.enqueue(ctx, append(requests, issues.requests...))
	issues.finish(ctx, err)
	if err == nil {
		return tooLarge
	}
	return err
}

func createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	e, err := newSentryExporter(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	for _, category := range []sentry.Category{sentry.CategoryTransaction, sentry.CategorySpan} {
		if err := e.addTracesQueue(ctx, category); err != nil {
			return nil, err
		}
	}
	if e.cfg.Errors.FromSpans != toissues.None {
		if err := e.addLogsQueue(ctx, sentry.CategoryError, string(sentry.CategoryError)); err != nil {
			return nil, err
		}
	}
	return tracesExporter{e}, nil
}

func (e *sentryExporter) addTracesQueue(ctx context.Context, category sentry.Category) error {
	q := e.addQueue(category)
	traces, err := xexporterhelper.NewTracesRequest(ctx, q.queueSettings(), requestOf[ptrace.Traces], q.push, q.options()...)
	if err != nil {
		return err
	}
	q.helper = traces
	q.consume = func(ctx context.Context) error { return traces.ConsumeTraces(ctx, ptrace.NewTraces()) }
	return nil
}

type logsExporter struct{ *sentryExporter }

// ConsumeLogs implements consumer.Logs.
func (e logsExporter) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	requests, tooLarge := e.convertLogs(ctx, logs)
	issues, err := e.convertIssues(ctx, toissues.FromLogs(logs, e.issueOptions()))
	if err != nil {
		return err
	}
	err = e.enqueue(ctx, append(requests, issues.requests...))
	issues.finish(ctx, err)
	if err == nil {
		return tooLarge
	}
	return err
}

func createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	e, err := newSentryExporter(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	for _, category := range []sentry.Category{sentry.CategoryLogItem, sentry.CategoryError, sentry.CategoryFeedback, sentry.CategoryMonitor} {
		name := string(category)
		if category == sentry.CategoryError {
			name = logsErrorQueue
		}
		if err := e.addLogsQueue(ctx, category, name); err != nil {
			return nil, err
		}
	}
	return logsExporter{e}, nil
}

type metricsExporter struct{ *sentryExporter }

// ConsumeMetrics implements consumer.Metrics.
func (e metricsExporter) ConsumeMetrics(ctx context.Context, metrics pmetric.Metrics) error {
	requests, cumulative := e.convertMetrics(ctx, metrics)
	if err := e.enqueue(ctx, requests); err != nil {
		return err
	}
	return cumulative
}

func createMetrics(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Metrics, error) {
	e, err := newSentryExporter(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	for _, category := range []sentry.Category{sentry.CategoryTraceMetric, sentry.CategorySession} {
		if err := e.addMetricsQueue(ctx, category); err != nil {
			return nil, err
		}
	}
	return metricsExporter{e}, nil
}

func (e *sentryExporter) addMetricsQueue(ctx context.Context, category sentry.Category) error {
	q := e.addQueue(category)
	metrics, err := xexporterhelper.NewMetricsRequest(ctx, q.queueSettings(), requestOf[pmetric.Metrics], q.push, q.options()...)
	if err != nil {
		return err
	}
	q.helper = metrics
	q.consume = func(ctx context.Context) error { return metrics.ConsumeMetrics(ctx, pmetric.NewMetrics()) }
	return nil
}

// logsErrorQueue is the name of the queue for errors from log records. The queue of the traces
// exporter has the name of the category, and two queues cannot share a storage.
const logsErrorQueue = "log_error"

// addLogsQueue adds the queue of a category. The collector's metrics count its items as log
// records.
func (e *sentryExporter) addLogsQueue(ctx context.Context, category sentry.Category, name string) error {
	q := e.addQueue(category)
	q.name = name
	logs, err := xexporterhelper.NewLogsRequest(ctx, q.queueSettings(), requestOf[plog.Logs], q.push, q.options()...)
	if err != nil {
		return err
	}
	q.helper = logs
	q.consume = func(ctx context.Context) error { return logs.ConsumeLogs(ctx, plog.NewLogs()) }
	return nil
}
