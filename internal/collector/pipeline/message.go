// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Message is OTLP data of one signal.
type Message struct {
	Signal Signal
	data   interface {
		send(context.Context, *Pipelines) error
	}
}

// Profiles returns a message of profiles.
func Profiles(data pprofile.Profiles) Message { return Message{SignalProfiles, profiles{data}} }

// Traces returns a message of spans.
func Traces(data ptrace.Traces) Message { return Message{SignalTraces, traces{data}} }

// Logs returns a message of log records.
func Logs(data plog.Logs) Message { return Message{SignalLogs, logs{data}} }

// Metrics returns a message of data points.
func Metrics(data pmetric.Metrics) Message { return Message{SignalMetrics, metrics{data}} }

// Data returns the content: pprofile.Profiles, ptrace.Traces, plog.Logs or pmetric.Metrics.
func (m Message) Data() any {
	switch data := m.data.(type) {
	case profiles:
		return data.Profiles
	case traces:
		return data.Traces
	case logs:
		return data.Logs
	}
	return m.data.(metrics).Metrics
}

type (
	profiles struct{ pprofile.Profiles }
	traces   struct{ ptrace.Traces }
	logs     struct{ plog.Logs }
	metrics  struct{ pmetric.Metrics }
)

// The four methods do the same: scrub, consume, and report the operation as all receivers do. They
// read the size first, because consumers may change the data.

func (d profiles) send(ctx context.Context, p *Pipelines) error {
	p.scrubbed(ctx, SignalProfiles, p.Scrubber.Profiles(d.Profiles))
	n := d.SampleCount()
	ctx = p.obsreport.StartProfilesOp(ctx)
	err := p.Profiles.ConsumeProfiles(ctx, d.Profiles)
	p.obsreport.EndProfilesOp(ctx, p.format, n, err)
	return err
}

func (d traces) send(ctx context.Context, p *Pipelines) error {
	p.scrubbed(ctx, SignalTraces, p.Scrubber.Traces(d.Traces))
	n := d.SpanCount()
	ctx = p.obsreport.StartTracesOp(ctx)
	err := p.Traces.ConsumeTraces(ctx, d.Traces)
	p.obsreport.EndTracesOp(ctx, p.format, n, err)
	return err
}

func (d logs) send(ctx context.Context, p *Pipelines) error {
	p.scrubbed(ctx, SignalLogs, p.Scrubber.Logs(d.Logs))
	n := d.LogRecordCount()
	ctx = p.obsreport.StartLogsOp(ctx)
	err := p.Logs.ConsumeLogs(ctx, d.Logs)
	p.obsreport.EndLogsOp(ctx, p.format, n, err)
	return err
}

func (d metrics) send(ctx context.Context, p *Pipelines) error {
	p.scrubbed(ctx, SignalMetrics, p.Scrubber.Metrics(d.Metrics))
	n := d.DataPointCount()
	ctx = p.obsreport.StartMetricsOp(ctx)
	err := p.Metrics.ConsumeMetrics(ctx, d.Metrics)
	p.obsreport.EndMetricsOp(ctx, p.format, n, err)
	return err
}
