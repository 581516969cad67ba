// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Message is OTLP of one signal.
type Message struct {
	Signal Signal
	send   func(context.Context, *Pipelines) error
}

// The four look alike: scrub, consume, and report it as all receivers do. Sizes are read before,
// because consumers may change the data.

// Profiles returns a message of profiles.
func Profiles(data pprofile.Profiles) Message {
	return Message{Signal: SignalProfiles, send: func(ctx context.Context, p *Pipelines) error {
		p.scrubbed(ctx, SignalProfiles, p.Scrubber.Profiles(data))
		n := data.SampleCount()
		ctx = p.obsreport.StartProfilesOp(ctx)
		err := p.Profiles.ConsumeProfiles(ctx, data)
		p.obsreport.EndProfilesOp(ctx, p.format, n, err)
		return err
	}}
}

// Traces returns a message of spans.
func Traces(data ptrace.Traces) Message {
	return Message{Signal: SignalTraces, send: func(ctx context.Context, p *Pipelines) error {
		p.scrubbed(ctx, SignalTraces, p.Scrubber.Traces(data))
		n := data.SpanCount()
		ctx = p.obsreport.StartTracesOp(ctx)
		err := p.Traces.ConsumeTraces(ctx, data)
		p.obsreport.EndTracesOp(ctx, p.format, n, err)
		return err
	}}
}

// Logs returns a message of log records.
func Logs(data plog.Logs) Message {
	return Message{Signal: SignalLogs, send: func(ctx context.Context, p *Pipelines) error {
		p.scrubbed(ctx, SignalLogs, p.Scrubber.Logs(data))
		n := data.LogRecordCount()
		ctx = p.obsreport.StartLogsOp(ctx)
		err := p.Logs.ConsumeLogs(ctx, data)
		p.obsreport.EndLogsOp(ctx, p.format, n, err)
		return err
	}}
}

// Metrics returns a message of data points.
func Metrics(data pmetric.Metrics) Message {
	return Message{Signal: SignalMetrics, send: func(ctx context.Context, p *Pipelines) error {
		p.scrubbed(ctx, SignalMetrics, p.Scrubber.Metrics(data))
		n := data.DataPointCount()
		ctx = p.obsreport.StartMetricsOp(ctx)
		err := p.Metrics.ConsumeMetrics(ctx, data)
		p.obsreport.EndMetricsOp(ctx, p.format, n, err)
		return err
	}}
}
