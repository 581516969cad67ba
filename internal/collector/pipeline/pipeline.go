// SPDX-License-Identifier: Apache-2.0

// Package pipeline sends OTLP to the pipelines behind a receiver, each behind a circuit breaker.
package pipeline

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
)

// Signal is an OpenTelemetry signal.
type Signal int

const (
	SignalProfiles Signal = iota
	SignalTraces
	SignalLogs
	SignalMetrics
	NumSignals
)

// String returns the name of the signal.
func (s Signal) String() string { return [...]string{"profiles", "traces", "logs", "metrics"}[s] }

// Pipelines are the pipelines behind a receiver, set before its Start; nil for signals without one.
type Pipelines struct {
	Profiles xconsumer.Profiles
	Traces   consumer.Traces
	Logs     consumer.Logs
	Metrics  consumer.Metrics

	Scrubber *scrub.Scrubber                              // nil = off
	Scrubbed func(context.Context, Signal, string, int64) // counts scrubbed values by rule

	Now func() time.Time // of the breakers

	breakers  [NumSignals]Breaker
	closed    *atomic.Bool
	format    string
	obsreport *receiverhelper.ObsReport
	logger    *zap.Logger
}

// transport is the transport in the collector's own receiver metrics.
const transport = "http"

// New returns the pipelines of a receiver, for data of a format. Nothing is sent after closed is
// set.
func New(set receiver.Settings, format string, closed *atomic.Bool) (*Pipelines, error) {
	obsreport, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{
		ReceiverID: set.ID, Transport: transport, ReceiverCreateSettings: set,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot register the metrics of receivers: %w", err)
	}
	return &Pipelines{Now: time.Now, closed: closed, format: format, obsreport: obsreport, logger: collector.LimitLogs(set.Logger)}, nil
}

// Has reports whether a signal has a pipeline.
func (p *Pipelines) Has(s Signal) bool {
	switch s {
	case SignalProfiles:
		return p.Profiles != nil
	case SignalTraces:
		return p.Traces != nil
	case SignalLogs:
		return p.Logs != nil
	default:
		return p.Metrics != nil
	}
}

// Signals returns the signals with a pipeline.
func (p *Pipelines) Signals() (all []Signal) {
	for s := range NumSignals {
		if p.Has(s) {
			all = append(all, s)
		}
	}
	return all
}

// Busy reports whether the pipeline of a signal exists and its breaker is open.
func (p *Pipelines) Busy(s Signal) bool { return p.Has(s) && p.breakers[s].Open(p.Now()) }

// AllBusy reports whether the breakers of all signals are open: then a request is not worth
// reading.
func (p *Pipelines) AllBusy() bool {
	for s := range NumSignals {
		if p.Has(s) && !p.Busy(s) {
			return false
		}
	}
	return true
}

// Allow asks the breaker of a signal, see Breaker.Allow. Send or Abandon must follow.
func (p *Pipelines) Allow(s Signal) bool { return p.breakers[s].Allow(p.Now()) }

// Abandon reports to the breaker of a signal that nothing is sent after all.
func (p *Pipelines) Abandon(s Signal) { p.breakers[s].Abandon() }

// scrubbed counts the values that were scrubbed from a message.
func (p *Pipelines) scrubbed(ctx context.Context, s Signal, counts scrub.Counts) {
	if p.Scrubbed == nil {
		return
	}
	for rule, n := range counts {
		p.Scrubbed(ctx, s, rule, int64(n))
	}
}

// Outcome is the fate of received data, an attribute of metrics.
type Outcome string

const (
	Accepted  Outcome = "accepted"  // by the pipeline
	Ignored   Outcome = "ignored"   // no pipeline for its signal, or not translated
	Discarded Outcome = "discarded" // unusable
	Refused   Outcome = "refused"   // by the pipeline, for now
	Rejected  Outcome = "rejected"  // by the pipeline, permanently
)

// Reasons of outcomes.
const (
	ReasonNoPipeline   = "no_pipeline"   // Ignored
	ReasonBackpressure = "backpressure"  // Refused: the pipeline is busy
	ReasonShuttingDown = "shutting_down" // Refused
	ReasonPipeline     = "pipeline"      // Rejected
)

// Send sends a message.
func (p *Pipelines) Send(ctx context.Context, m Message) (o Outcome, reason string) {
	if p.closed.Load() { // the consumers may have been shut down
		return Refused, ReasonShuttingDown
	}
	err := m.send(ctx, p)
	p.breakers[m.Signal].Report(ctx, err, p.Now())
	switch {
	case err == nil:
		return Accepted, ""
	case collector.IsPermanent(err):
		p.logger.Warn("The pipeline rejected data permanently", zap.Stringer("signal", m.Signal), zap.Error(err))
		return Rejected, ReasonPipeline
	default:
		p.logger.Warn("The pipeline refused data for now", zap.Stringer("signal", m.Signal), zap.Error(err))
		return Refused, ReasonBackpressure
	}
}
