package sentryreceiver

import (
	"context"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate"
)

// translators say what becomes of each item type. Types that are not here are taken, counted and let go.
var translators = map[sentry.ItemType]translator{
	sentry.ItemProfile:        {takesProfilesOrMetrics, unlimited, (*ingestion).translateProfile}, // profiles.go
	sentry.ItemProfileChunk:   {takesProfilesOrMetrics, unlimited, (*ingestion).translateProfile},
	sentry.ItemProfileChunkUI: {takesProfilesOrMetrics, unlimited, (*ingestion).translateProfile},

	sentry.ItemTransaction: {takesTraces, limited, (*ingestion).translateTransaction}, // traces.go
	sentry.ItemSpan:        {takesTraces, limited, (*ingestion).translateSpans},

	sentry.ItemEvent:           {takesLogs, limited, (*ingestion).translateEvent}, // logs.go
	sentry.ItemLog:             {takesLogs, limited, (*ingestion).translateLogs},
	sentry.ItemFeedback:        {takesLogs, limited, (*ingestion).translateFeedback},
	sentry.ItemUserReport:      {takesLogs, limited, (*ingestion).translateUserReport},
	sentry.ItemCheckIn:         {takesLogsOrMetrics, limited, (*ingestion).translateCheckIn},
	sentry.ItemAttachment:      {takesLogs, unlimited, (*ingestion).describe},
	sentry.ItemReplayEvent:     {takesLogs, unlimited, (*ingestion).describe},
	sentry.ItemReplayRecording: {takesLogs, unlimited, (*ingestion).describe},
	sentry.ItemReplayVideo:     {takesLogs, unlimited, (*ingestion).describe},
	sentry.ItemRawSecurity:     {takesLogs, unlimited, (*ingestion).describe},
	sentry.ItemSecurity:        {takesLogs, unlimited, (*ingestion).describe},
	sentry.ItemNel:             {takesLogs, unlimited, (*ingestion).describe},

	sentry.ItemTraceMetric:  {takesMetrics, limited, (*ingestion).translateTraceMetrics}, // metrics.go
	sentry.ItemSession:      {takesMetrics, limited, (*ingestion).translateSession},
	sentry.ItemSessions:     {takesMetrics, limited, (*ingestion).translateSessions},
	sentry.ItemClientReport: {takesMetrics, limited, (*ingestion).translateClientReport},
}

// translator makes the deliveries of an item. The first, if there is one, decides about the item's outcome.
type translator struct {
	wanted    func(*sentryReceiver) bool // by a pipeline; the item is ignored otherwise
	limited   bool                       // to ItemType.MaxSize
	translate func(*ingestion, context.Context, *sentry.Item) ([]delivery, *sentry.Discard)
}

// Profiles have a limit of their own, in the configuration; what is only described is not looked into.
const (
	limited   = true
	unlimited = false
)

func takesTraces(r *sentryReceiver) bool        { return r.nextTraces != nil }
func takesLogs(r *sentryReceiver) bool          { return r.nextLogs != nil }
func takesMetrics(r *sentryReceiver) bool       { return r.nextMetrics != nil }
func takesLogsOrMetrics(r *sentryReceiver) bool { return r.nextLogs != nil || r.nextMetrics != nil }
func takesProfilesOrMetrics(r *sentryReceiver) bool {
	return r.nextProfiles != nil || r.nextMetrics != nil
}

// What SDKs are asked to hold back when the pipeline of a signal refuses something: all that goes there, whatever it was.
var (
	profileTypes = []sentry.ItemType{sentry.ItemProfile, sentry.ItemProfileChunk}
	traceTypes   = []sentry.ItemType{sentry.ItemTransaction, sentry.ItemSpan}
	logTypes     = []sentry.ItemType{sentry.ItemEvent, sentry.ItemLog, sentry.ItemFeedback, sentry.ItemUserReport, sentry.ItemCheckIn}
	metricTypes  = []sentry.ItemType{sentry.ItemTraceMetric, sentry.ItemSession}
)

// everyType is all of that and what is only described. By name: a limit without categories would stop reports about losses too.
var everyType = slices.Concat(logTypes, traceTypes, profileTypes, metricTypes,
	[]sentry.ItemType{sentry.ItemAttachment, sentry.ItemReplayEvent, sentry.ItemRawSecurity})

// source is what the request tells about all of its items.
func (in *ingestion) source() translate.Source {
	src := translate.Source{
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
	return delivery{item: item, stops: profileTypes, send: func(ctx context.Context) error {
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
	return delivery{item: item, stops: traceTypes, ids: in.spanIDs(traces), drop: drop, send: func(ctx context.Context) error {
		spans := traces.SpanCount()
		ctx = in.obsreport.StartTracesOp(ctx)
		err := in.nextTraces.ConsumeTraces(ctx, traces)
		in.obsreport.EndTracesOp(ctx, dataFormat, spans, err)
		return err
	}}
}

func (in *ingestion) logsDelivery(item sentry.ItemType, logs plog.Logs) delivery {
	return delivery{item: item, stops: logTypes, send: func(ctx context.Context) error {
		records := logs.LogRecordCount()
		ctx = in.obsreport.StartLogsOp(ctx)
		err := in.nextLogs.ConsumeLogs(ctx, logs)
		in.obsreport.EndLogsOp(ctx, dataFormat, records, err)
		return err
	}}
}

func (in *ingestion) metricsDelivery(item sentry.ItemType, metrics pmetric.Metrics) delivery {
	return delivery{item: item, stops: metricTypes, send: func(ctx context.Context) error {
		points := metrics.DataPointCount()
		ctx = in.obsreport.StartMetricsOp(ctx)
		err := in.nextMetrics.ConsumeMetrics(ctx, metrics)
		in.obsreport.EndMetricsOp(ctx, dataFormat, points, err)
		return err
	}}
}
