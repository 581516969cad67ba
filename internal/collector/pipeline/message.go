// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
)

// Message is OTLP data of one signal.
type Message struct {
	Signal Signal
	data   any
	send   func(context.Context, *Pipelines) error
}

// Data returns the content: pprofile.Profiles, ptrace.Traces, plog.Logs or pmetric.Metrics.
func (m Message) Data() any { return m.data }

// Profiles returns a message of profiles.
func Profiles(data pprofile.Profiles) Message {
	return Message{SignalProfiles, data, func(ctx context.Context, p *Pipelines) error {
		return send(ctx, p, SignalProfiles, data, p.Scrubber.Profiles, data.SampleCount, p.obsreport.StartProfilesOp,
			p.Profiles.ConsumeProfiles, p.obsreport.EndProfilesOp)
	}}
}

// Traces returns a message of spans.
func Traces(data ptrace.Traces) Message {
	return Message{SignalTraces, data, func(ctx context.Context, p *Pipelines) error {
		return send(ctx, p, SignalTraces, data, p.Scrubber.Traces, data.SpanCount, p.obsreport.StartTracesOp,
			p.Traces.ConsumeTraces, p.obsreport.EndTracesOp)
	}}
}

// Logs returns a message of log records.
func Logs(data plog.Logs) Message {
	return Message{SignalLogs, data, func(ctx context.Context, p *Pipelines) error {
		return send(ctx, p, SignalLogs, data, p.Scrubber.Logs, data.LogRecordCount, p.obsreport.StartLogsOp,
			p.Logs.ConsumeLogs, p.obsreport.EndLogsOp)
	}}
}

// Metrics returns a message of data points.
func Metrics(data pmetric.Metrics) Message {
	return Message{SignalMetrics, data, func(ctx context.Context, p *Pipelines) error {
		return send(ctx, p, SignalMetrics, data, p.Scrubber.Metrics, data.DataPointCount, p.obsreport.StartMetricsOp,
			p.Metrics.ConsumeMetrics, p.obsreport.EndMetricsOp)
	}}
}

// send scrubs and delivers a message, and reports the operation as all receivers do. It reads the
// size first, because consumers may change the data.
func send[D any](ctx context.Context, p *Pipelines, s Signal, data D, clean func(D) scrub.Counts, size func() int, start func(context.Context) context.Context,
	consume func(context.Context, D) error, end func(context.Context, string, int, error)) error {
	p.scrubbed(ctx, s, clean(data))
	n := size()
	ctx = start(ctx)
	err := consume(ctx, data)
	end(ctx, p.format, n, err)
	return err
}
