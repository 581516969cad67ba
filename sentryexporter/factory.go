// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"errors"
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

// The collector's metrics count error events as log records, also those of spans.
var (
	profilesHelper = helperOf(xexporterhelper.NewProfilesRequest)
	tracesHelper   = helperOf(xexporterhelper.NewTracesRequest)
	logsHelper     = helperOf(xexporterhelper.NewLogsRequest)
	metricsHelper  = helperOf(xexporterhelper.NewMetricsRequest)
)

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
		return e.addQueues(ctx, profilesHelper, sentry.CategoryProfileChunk, sentry.CategoryProfileChunkUI)
	})
	if err != nil {
		return nil, err
	}
	return profilesExporter{r}, nil
}

type tracesExporter struct{ *router }

// ConsumeTraces implements consumer.Traces.
func (r tracesExporter) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	partOf := func(positions []int) ptrace.Traces {
		part := ptrace.NewTraces()
		copyResources(traces.ResourceSpans(), part.ResourceSpans(), positions)
		return part
	}
	return split(ctx, r.router, traces, traces.ResourceSpans(), partOf, (*sentryExporter).consumeTraces)
}

func (e *sentryExporter) consumeTraces(ctx context.Context, traces ptrace.Traces) error {
	return e.enqueueWithIssues(ctx, e.convertTraces(ctx, traces), toissues.FromTraces(traces, e.issueOptions()))
}

func createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	r, err := newRouter(cfg.(*Config), set, func(e *sentryExporter) error {
		err := e.addQueues(ctx, tracesHelper, sentry.CategoryTransaction, sentry.CategorySpan)
		if e.cfg.Errors.FromSpans == toissues.None {
			return err
		}
		e.fromSpans.Store(true)
		return errors.Join(err, e.addQueues(ctx, logsHelper, sentry.CategoryError))
	})
	if err != nil {
		return nil, err
	}
	return tracesExporter{r}, nil
}

type logsExporter struct{ *router }

// ConsumeLogs implements consumer.Logs.
func (r logsExporter) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	partOf := func(positions []int) plog.Logs {
		part := plog.NewLogs()
		copyResources(logs.ResourceLogs(), part.ResourceLogs(), positions)
		return part
	}
	return split(ctx, r.router, logs, logs.ResourceLogs(), partOf, (*sentryExporter).consumeLogs)
}

func (e *sentryExporter) consumeLogs(ctx context.Context, logs plog.Logs) error {
	return e.enqueueWithIssues(ctx, e.convertLogs(ctx, logs), toissues.FromLogs(logs, e.issueOptions()))
}

func createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	r, err := newRouter(cfg.(*Config), set, func(e *sentryExporter) error {
		return errors.Join(
			e.addQueues(ctx, logsHelper, sentry.CategoryLogItem),
			e.addQueue(ctx, logsHelper, sentry.CategoryError, logsErrorQueue),
			e.addQueues(ctx, logsHelper, sentry.CategoryFeedback, sentry.CategoryMonitor),
			e.addQueue(ctx, logsHelper, sentry.CategoryError, heldQueue))
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
		copyResources(metrics.ResourceMetrics(), part.ResourceMetrics(), positions)
		return part
	}
	return split(ctx, r.router, metrics, metrics.ResourceMetrics(), partOf, (*sentryExporter).consumeMetrics)
}

func (e *sentryExporter) consumeMetrics(ctx context.Context, metrics pmetric.Metrics) error {
	return e.enqueue(ctx, e.convertMetrics(ctx, metrics))
}

func createMetrics(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Metrics, error) {
	r, err := newRouter(cfg.(*Config), set, func(e *sentryExporter) error {
		return e.addQueues(ctx, metricsHelper, sentry.CategoryTraceMetric, sentry.CategorySession)
	})
	if err != nil {
		return nil, err
	}
	return metricsExporter{r}, nil
}

// logsErrorQueue is the name of the queue for errors from log records. The queue of the traces
// exporter has the name of the category, and two queues cannot share a storage.
const logsErrorQueue = "log_error"

// copyResources copies the resources at some positions.
func copyResources[R interface{ CopyTo(R) }, S interface {
	At(int) R
	AppendEmpty() R
}](from, to S, positions []int) {
	for _, i := range positions {
		from.At(i).CopyTo(to.AppendEmpty())
	}
}
