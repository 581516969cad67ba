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
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/exceptions"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
)

var openedFiles collector.SharedComponents[Config, *files]

// pipeline is the component of one pipeline. All pipelines of a configuration share the files.
type pipeline struct {
	*collector.SharedComponent[*files]
	hold *hold
}

var _ component.Component = pipeline{}

func newPipeline(cfg *Config, set processor.Settings) (pipeline, error) {
	shared, err := openedFiles.Acquire(cfg, func() (*files, error) { return newFiles(cfg, set.TelemetrySettings) })
	if err != nil {
		return pipeline{}, err
	}
	return pipeline{shared, newHold(cfg.Hold, shared.Shared)}, nil
}

// Capabilities declares that messages are modified in place.
func (p pipeline) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

// Start starts the files, unless another pipeline has started them.
func (p pipeline) Start(ctx context.Context, host component.Host) error {
	p.hold.start()
	return p.SharedComponent.Start(ctx, host)
}

// Shutdown forwards held messages, and stops the files for all pipelines.
func (p pipeline) Shutdown(ctx context.Context) error {
	p.hold.shutdown()
	return p.SharedComponent.Shutdown(ctx)
}

// consume holds a message whose files are being opened. It writes the names into others, and
// forwards them.
func (p pipeline) consume(ctx context.Context, m message) error {
	changed, files := p.Shared.opened.Next(), p.Shared.of(tenant.FromContext(ctx))
	write := m.find(files)
	if p.hold != nil && len(files.pending) > 0 && p.hold.add(ctx, m, files, changed) {
		return nil
	}
	p.Shared.telemetry.countFrames(ctx, write())
	return m.next(ctx, false)
}

// owned returns a message that the next component may change. If another attempt may follow, that
// is a copy.
func owned[M interface{ CopyTo(M) }](message M, empty func() M, next interface{ Capabilities() consumer.Capabilities }, again bool) M {
	if !again || !next.Capabilities().MutatesData {
		return message
	}
	copied := empty()
	message.CopyTo(copied)
	return copied
}

type profilesProcessor struct {
	pipeline
	next xconsumer.Profiles
}

// ConsumeProfiles processes profiles.
func (p *profilesProcessor) ConsumeProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	return p.consume(ctx, message{
		find: func(f symbolicate.Files) symbolicate.Write { return symbolicate.Profiles(profiles, f) },
		size: func() int { return new(pprofile.ProtoMarshaler).ProfilesSize(profiles) },
		next: func(ctx context.Context, again bool) error {
			return p.next.ConsumeProfiles(ctx, owned(profiles, pprofile.NewProfiles, p.next, again))
		},
	})
}

type logsProcessor struct {
	pipeline
	next consumer.Logs
}

// ConsumeLogs processes the exceptions of log records.
func (p *logsProcessor) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	return p.consume(ctx, message{
		find: func(f symbolicate.Files) symbolicate.Write { return exceptions.Logs(logs, f) },
		size: func() int { return new(plog.ProtoMarshaler).LogsSize(logs) },
		next: func(ctx context.Context, again bool) error {
			return p.next.ConsumeLogs(ctx, owned(logs, plog.NewLogs, p.next, again))
		},
	})
}

type tracesProcessor struct {
	pipeline
	next consumer.Traces
}

// ConsumeTraces processes the exceptions of spans.
func (p *tracesProcessor) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	return p.consume(ctx, message{
		find: func(f symbolicate.Files) symbolicate.Write { return exceptions.Traces(traces, f) },
		size: func() int { return new(ptrace.ProtoMarshaler).TracesSize(traces) },
		next: func(ctx context.Context, again bool) error {
			return p.next.ConsumeTraces(ctx, owned(traces, ptrace.NewTraces, p.next, again))
		},
	})
}
