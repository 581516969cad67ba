// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"context"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
)

// signals is a set of signals, as parts of a batch.
type signals dedup.Parts

const (
	signalTraces signals = 1 << iota
	signalLogs
	signalMetrics
)

// The three look alike: hand on, and report it as all receivers do. Sizes are taken before, since consumers may change what
// they are given.

func (r *measureReceiver) sendLogs(logs plog.Logs) send {
	return func(ctx context.Context) error {
		n := logs.LogRecordCount()
		ctx = r.obsreport.StartLogsOp(ctx)
		err := r.nextLogs.ConsumeLogs(ctx, logs)
		r.obsreport.EndLogsOp(ctx, dataFormat, n, err)
		return err
	}
}

func (r *measureReceiver) sendTraces(traces ptrace.Traces) send {
	return func(ctx context.Context) error {
		n := traces.SpanCount()
		ctx = r.obsreport.StartTracesOp(ctx)
		err := r.nextTraces.ConsumeTraces(ctx, traces)
		r.obsreport.EndTracesOp(ctx, dataFormat, n, err)
		return err
	}
}

func (r *measureReceiver) sendMetrics(metrics pmetric.Metrics) send {
	return func(ctx context.Context) error {
		n := metrics.DataPointCount()
		ctx = r.obsreport.StartMetricsOp(ctx)
		err := r.nextMetrics.ConsumeMetrics(ctx, metrics)
		r.obsreport.EndMetricsOp(ctx, dataFormat, n, err)
		return err
	}
}

// takes says whether a pipeline takes a signal from this receiver.
func (r *measureReceiver) takes(s signals) bool {
	switch s {
	case signalTraces:
		return r.nextTraces != nil
	case signalLogs:
		return r.nextLogs != nil
	default:
		return r.nextMetrics != nil
	}
}

// refusesAll says whether nothing would be taken of a batch, whatever is in it: the pipelines of all signals have just refused
// something. Then it is not worth reading.
func (r *measureReceiver) refusesAll() bool {
	now := r.now()
	for s, gate := range r.gates {
		if r.takes(s) && !gate.Open(now) {
			return false
		}
	}
	return true
}
