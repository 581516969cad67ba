package measurereceiver

import (
	"context"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// The three look alike: hand on, and report it as all receivers do. Sizes are taken before, since consumers may change what
// they are given.

func (r *measureReceiver) sendLogs(logs plog.Logs) func(context.Context) error {
	return func(ctx context.Context) error {
		n := logs.LogRecordCount()
		ctx = r.obsreport.StartLogsOp(ctx)
		err := r.nextLogs.ConsumeLogs(ctx, logs)
		r.obsreport.EndLogsOp(ctx, dataFormat, n, err)
		return err
	}
}

func (r *measureReceiver) sendTraces(traces ptrace.Traces) func(context.Context) error {
	return func(ctx context.Context) error {
		n := traces.SpanCount()
		ctx = r.obsreport.StartTracesOp(ctx)
		err := r.nextTraces.ConsumeTraces(ctx, traces)
		r.obsreport.EndTracesOp(ctx, dataFormat, n, err)
		return err
	}
}

func (r *measureReceiver) sendMetrics(metrics pmetric.Metrics) func(context.Context) error {
	return func(ctx context.Context) error {
		n := metrics.DataPointCount()
		ctx = r.obsreport.StartMetricsOp(ctx)
		err := r.nextMetrics.ConsumeMetrics(ctx, metrics)
		r.obsreport.EndMetricsOp(ctx, dataFormat, n, err)
		return err
	}
}
