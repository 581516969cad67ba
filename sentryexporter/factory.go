// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/transform"
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

type profilesExporter struct{ *router }

// ConsumeProfiles implements consumer.Profiles.
func (r profilesExporter) ConsumeProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	profiles, _, err := dialect.Current(profiles)
	if err != nil {
		e := r.projects[0]
		e.logger.Error("Message dropped: unknown dialect of OTLP", zap.Error(err))
		e.telemetry.lost(ctx, e.telemetry.samplesDiscarded, []discard.Loss{{Reason: reasonDialect, Count: profiles.SampleCount()}})
		return nil
	}
	selector := sync.OnceValue(func() *transform.Selector { return transform.NewSelector(profiles) })
	partOf := func(positions []int) pprofile.Profiles { return selector().Resources(positions) }
	return split(ctx, r.router, profiles, profiles.ResourceProfiles(), partOf, (*sentryExporter).consumeProfiles)
}

// reasonDialect is the reason for dropping samples in an older version of OTLP that cannot be
// translated.
const reasonDialect discard.Reason = "unknown_dialect"

func (e *sentryExporter) consumeProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	return e.enqueue(ctx, e.convertProfiles(ctx, profiles))
}

func createProfiles(ctx context.Context, set exporter.Settings, cfg component.Config) (xexporter.Profiles, error) {
	r, err := newRouter(cfg.(*Config), set, func(e *sentryExporter) error {
		e.profiled.Store(true)
		for _, category := range []sentry.Category{sentry.CategoryProfileChunk, sentry.CategoryProfileChunkUI} {
			if err := e.addProfilesQueue(ctx, category); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return profilesExporter{r}, nil
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

type tracesExporter struct{ *router }

// ConsumeTraces implements consumer.Traces.
func (r tracesExporter) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	partOf := func(positions []int) ptrace.Traces {
		part := ptrace.NewTraces()
		for _, i := range positions {
			traces.ResourceSpans().At(i).CopyTo(part.ResourceSpans().AppendEmpty())
		}
		return part
	}
	return split(ctx, r.router, traces, traces.ResourceSpans(), partOf, (*sentryExporter).consumeTraces)
}

func (e *sentryExporter) consumeTraces(ctx context.Context, traces ptrace.Traces) error {
	requests := e.convertTraces(ctx, traces)
	issues, err := e.convertIssues(ctx, toissues.FromTraces(traces, e.issueOptions()))
	if err != nil {
		return err
	}
	err = e.enqueue(ctx, append(requests, issues.requests...))
	issues.finish(ctx, err)
	return err
}

func createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	r, err := newRouter(cfg.(*Config), set, func(e *sentryExporter) error {
		for _, category := range []sentry.Category{sentry.CategoryTransaction, sentry.CategorySpan} {
			if err := e.addTracesQueue(ctx, category); err != nil {
				return err
			}
		}
		if e.cfg.Errors.FromSpans == toissues.None {
			return nil
		}
		e.fromSpans.Store(true)
		return e.addLogsQueue(ctx, sentry.CategoryError, string(sentry.CategoryError))
	})
	if err != nil {
		return nil, err
	}
	return tracesExporter{r}, nil
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

type logsExporter struct{ *router }

// ConsumeLogs implements consumer.Logs.
func (r logsExporter) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	partOf := func(positions []int) plog.Logs {
		part := plog.NewLogs()
		for _, i := range positions {
			logs.ResourceLogs().At(i).CopyTo(part.ResourceLogs().AppendEmpty())
		}
		return part
	}
	return split(ctx, r.router, logs, logs.ResourceLogs(), partOf, (*sentryExporter).consumeLogs)
}

func (e *sentryExporter) consumeLogs(ctx context.Context, logs plog.Logs) error {
	requests := e.convertLogs(ctx, logs)
	issues, err := e.convertIssues(ctx, toissues.FromLogs(logs, e.issueOptions()))
	if err != nil {
		return err
	}
	err = e.enqueue(ctx, append(requests, issues.requests...))
	issues.finish(ctx, err)
	return err
}

func createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	r, err := newRouter(cfg.(*Config), set, func(e *sentryExporter) error {
		for _, category := range []sentry.Category{sentry.CategoryLogItem, sentry.CategoryError, sentry.CategoryFeedback, sentry.CategoryMonitor} {
			name := string(category)
			if category == sentry.CategoryError {
				name = logsErrorQueue
			}
			if err := e.addLogsQueue(ctx, category, name); err != nil {
				return err
			}
		}
		return e.addLogsQueue(ctx, sentry.CategoryError, heldQueue)
	})
	if err != nil {
		return nil, err
	}
	return logsExporter{r}, nil
}

type metricsExporter struct{ *router }

// ConsumeMetrics implements consumer.Metrics.
func (r metricsExporter) ConsumeMetrics(ctx context.Context, metrics pmetric.Metrics) error {
	partOf := func(positions []int) pmetric.Metrics {
		part := pmetric.NewMetrics()
		for _, i := range positions {
			metrics.ResourceMetrics().At(i).CopyTo(part.ResourceMetrics().AppendEmpty())
		}
		return part
	}
	return split(ctx, r.router, metrics, metrics.ResourceMetrics(), partOf, (*sentryExporter).consumeMetrics)
}

func (e *sentryExporter) consumeMetrics(ctx context.Context, metrics pmetric.Metrics) error {
	return e.enqueue(ctx, e.convertMetrics(ctx, metrics))
}

func createMetrics(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Metrics, error) {
	r, err := newRouter(cfg.(*Config), set, func(e *sentryExporter) error {
		for _, category := range []sentry.Category{sentry.CategoryTraceMetric, sentry.CategorySession} {
			if err := e.addMetricsQueue(ctx, category); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return metricsExporter{r}, nil
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
