// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// translators say what becomes of each item type. Types that are not here are taken, counted and let go.
var translators = map[sentry.ItemType]translator{
	sentry.ItemProfile:        {profilesOrMetrics, unlimited, (*ingestion).translateProfile}, // profiles.go
	sentry.ItemProfileChunk:   {profilesOrMetrics, unlimited, (*ingestion).translateProfile},
	sentry.ItemProfileChunkUI: {profilesOrMetrics, unlimited, (*ingestion).translateProfile},

	sentry.ItemTransaction: {onlyTraces, limited, (*ingestion).translateTransaction}, // traces.go
	sentry.ItemSpan:        {onlyTraces, limited, (*ingestion).translateSpans},

	sentry.ItemEvent:           {onlyLogs, limited, (*ingestion).translateEvent}, // logs.go
	sentry.ItemLog:             {onlyLogs, limited, (*ingestion).translateLogs},
	sentry.ItemFeedback:        {onlyLogs, limited, (*ingestion).translateFeedback},
	sentry.ItemUserReport:      {onlyLogs, limited, (*ingestion).translateUserReport},
	sentry.ItemCheckIn:         {logsOrMetrics, limited, (*ingestion).translateCheckIn},
	sentry.ItemAttachment:      {onlyLogs, unlimited, (*ingestion).describe},
	sentry.ItemReplayEvent:     {onlyLogs, unlimited, (*ingestion).describe},
	sentry.ItemReplayRecording: {onlyLogs, unlimited, (*ingestion).describe},
	sentry.ItemReplayVideo:     {onlyLogs, unlimited, (*ingestion).describe},
	sentry.ItemRawSecurity:     {onlyLogs, unlimited, (*ingestion).describe},
	sentry.ItemSecurity:        {onlyLogs, unlimited, (*ingestion).describe},
	sentry.ItemNel:             {onlyLogs, unlimited, (*ingestion).describe},

	sentry.ItemTraceMetric:  {onlyMetrics, limited, (*ingestion).translateTraceMetrics}, // metrics.go
	sentry.ItemSession:      {onlyMetrics, limited, (*ingestion).translateSession},
	sentry.ItemSessions:     {onlyMetrics, limited, (*ingestion).translateSessions},
	sentry.ItemClientReport: {onlyMetrics, limited, (*ingestion).translateClientReport},
}

// translator makes the deliveries of an item. The first, if there is one, decides about the item's outcome.
type translator struct {
	signals   []signal // of the deliveries, in their order
	limited   bool     // to ItemType.MaxSize
	translate func(*ingestion, context.Context, *sentry.Item) ([]delivery, *discard.Error)
}

// Profiles have a limit of their own, in the configuration; what is only described is not looked into.
const (
	limited   = true
	unlimited = false
)

// signal is one of OpenTelemetry's.
type signal int

const (
	signalProfiles signal = iota
	signalTraces
	signalLogs
	signalMetrics
	numSignals
)

var (
	profilesOrMetrics = []signal{signalProfiles, signalMetrics}
	onlyTraces        = []signal{signalTraces}
	onlyLogs          = []signal{signalLogs}
	logsOrMetrics     = []signal{signalLogs, signalMetrics}
	onlyMetrics       = []signal{signalMetrics}
)

// takes says whether a pipeline takes a signal from this receiver.
func (r *sentryReceiver) takes(s signal) bool {
	switch s {
	case signalProfiles:
		return r.nextProfiles != nil
	case signalTraces:
		return r.nextTraces != nil
	case signalLogs:
		return r.nextLogs != nil
	default:
		return r.nextMetrics != nil
	}
}

// decidedBy gives the signal of the first delivery. If no pipeline takes any, the item is not wanted, and ignored.
func (r *sentryReceiver) decidedBy(t translator) (decisive signal, wanted bool) {
	for _, s := range t.signals {
		if r.takes(s) {
			return s, true
		}
	}
	return 0, false
}

// stoppedBy are the types that SDKs are asked to hold back when the pipeline of a signal refuses something: all that goes there,
// whatever it was.
var stoppedBy = [numSignals][]sentry.ItemType{
	signalProfiles: {sentry.ItemProfile, sentry.ItemProfileChunk},
	signalTraces:   {sentry.ItemTransaction, sentry.ItemSpan},
	signalLogs:     {sentry.ItemEvent, sentry.ItemLog, sentry.ItemFeedback, sentry.ItemUserReport, sentry.ItemCheckIn},
	signalMetrics:  {sentry.ItemTraceMetric, sentry.ItemSession},
}

// everyType is all of that and what is only described. By name: a limit without categories would stop reports about losses too.
var everyType = slices.Concat(stoppedBy[signalLogs], stoppedBy[signalTraces], stoppedBy[signalProfiles], stoppedBy[signalMetrics],
	[]sentry.ItemType{sentry.ItemAttachment, sentry.ItemReplayEvent, sentry.ItemRawSecurity})

// source is what the request tells about all of its items.
func (in *ingestion) source() fromsentry.Source {
	src := fromsentry.Source{
		ProjectID:    in.auth.ProjectID,
		SDK:          in.sdk(),
		ReceivedNano: uint64(in.received.UnixNano()),
		PeriodType:   in.cfg.ProfileType,
		EventID:      in.envelope.Header.EventID,
		IncludePII:   in.cfg.IncludePII,

		ClockDriftMilli: in.drift.milli,
		CorrectDrift:    in.drift.correct,
		Resource:        in.project.resource,
	}
	if trace := in.envelope.Header.Trace; trace != nil {
		src.Release, src.Environment = trace.Release, trace.Environment
	}
	return src
}

// The deliveries of the four signals look alike: hand on, and report it as all receivers do. Sizes are taken before, since
// consumers may change what they are given.

func (in *ingestion) profilesDelivery(item sentry.ItemType, profiles pprofile.Profiles) delivery {
	return delivery{item: item, signal: signalProfiles, send: func(ctx context.Context) error {
		samples := profiles.SampleCount()
		ctx = in.obsreport.StartProfilesOp(ctx)
		err := in.nextProfiles.ConsumeProfiles(ctx, profiles)
		in.obsreport.EndProfilesOp(ctx, dataFormat, samples, err)
		return err
	}}
}

func (in *ingestion) tracesDelivery(item sentry.ItemType, traces ptrace.Traces) delivery {
	drop := func(resent []bool) {
		n := -1
		removeSpans(traces, func(pcommon.TraceID, pcommon.SpanID) bool { n++; return resent[n] })
	}
	return delivery{item: item, signal: signalTraces, ids: in.spanIDs(traces), drop: drop, send: func(ctx context.Context) error {
		spans := traces.SpanCount()
		ctx = in.obsreport.StartTracesOp(ctx)
		err := in.nextTraces.ConsumeTraces(ctx, traces)
		in.obsreport.EndTracesOp(ctx, dataFormat, spans, err)
		return err
	}}
}

func (in *ingestion) logsDelivery(item sentry.ItemType, logs plog.Logs) delivery {
	return delivery{item: item, signal: signalLogs, send: func(ctx context.Context) error {
		records := logs.LogRecordCount()
		ctx = in.obsreport.StartLogsOp(ctx)
		err := in.nextLogs.ConsumeLogs(ctx, logs)
		in.obsreport.EndLogsOp(ctx, dataFormat, records, err)
		return err
	}}
}

func (in *ingestion) metricsDelivery(item sentry.ItemType, metrics pmetric.Metrics) delivery {
	return delivery{item: item, signal: signalMetrics, send: func(ctx context.Context) error {
		points := metrics.DataPointCount()
		ctx = in.obsreport.StartMetricsOp(ctx)
		err := in.nextMetrics.ConsumeMetrics(ctx, metrics)
		in.obsreport.EndMetricsOp(ctx, dataFormat, points, err)
		return err
	}}
}
