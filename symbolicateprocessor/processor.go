// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exceptions"
)

var opened collector.SharedComponents[Config, *files]

// pipeline is the component of one pipeline. All pipelines of a configuration share the files.
type pipeline struct {
	*collector.SharedComponent[*files]
}

var _ component.Component = pipeline{}

func newPipeline(cfg *Config, set processor.Settings) (pipeline, error) {
	shared, err := opened.Acquire(cfg, func() (*files, error) { return newFiles(cfg, set.TelemetrySettings) })
	return pipeline{shared}, err
}

// Capabilities declares that messages are modified in place.
func (p pipeline) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

type profilesProcessor struct {
	pipeline
	next xconsumer.Profiles
}

// ConsumeProfiles writes the names from open symbol files, and forwards the profiles.
func (p *profilesProcessor) ConsumeProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	p.Shared.telemetry.countFrames(ctx, symbolicate.Profiles(profiles, p.Shared))
	return p.next.ConsumeProfiles(ctx, profiles)
}

type logsProcessor struct {
	pipeline
	next consumer.Logs
}

// ConsumeLogs writes the names from open symbol files, and forwards the log records.
func (p *logsProcessor) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	p.Shared.telemetry.countFrames(ctx, exceptions.Logs(logs, p.Shared))
	return p.next.ConsumeLogs(ctx, logs)
}

type tracesProcessor struct {
	pipeline
	next consumer.Traces
}

// ConsumeTraces writes the names from open symbol files, and forwards the spans.
func (p *tracesProcessor) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	p.Shared.telemetry.countFrames(ctx, exceptions.Traces(traces, p.Shared))
	return p.next.ConsumeTraces(ctx, traces)
}
