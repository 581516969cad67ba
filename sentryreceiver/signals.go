package sentryreceiver

import (
	"context"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate"
)

// translators say what becomes of each item type. They give nothing where no pipeline takes the signal; the first delivery,
// if there is one, decides about the item. Types that are not here are taken, counted and let go.
var translators = map[sentry.ItemType]func(*ingestion, context.Context, *sentry.Item) ([]delivery, *sentry.Discard){
	sentry.ItemProfile:        (*ingestion).translateProfile, // profiles.go
	sentry.ItemProfileChunk:   (*ingestion).translateProfile,
	sentry.ItemProfileChunkUI: (*ingestion).translateProfile,

	sentry.ItemTransaction: (*ingestion).translateTransaction, // traces.go
	sentry.ItemSpan:        (*ingestion).translateSpans,

	sentry.ItemEvent:           (*ingestion).translateEvent, // logs.go
	sentry.ItemLog:             (*ingestion).translateLogs,
	sentry.ItemFeedback:        (*ingestion).translateFeedback,
	sentry.ItemUserReport:      (*ingestion).translateUserReport,
	sentry.ItemCheckIn:         (*ingestion).translateCheckIn,
	sentry.ItemAttachment:      (*ingestion).describe,
	sentry.ItemReplayEvent:     (*ingestion).describe,
	sentry.ItemReplayRecording: (*ingestion).describe,
	sentry.ItemReplayVideo:     (*ingestion).describe,
	sentry.ItemRawSecurity:     (*ingestion).describe,
	sentry.ItemSecurity:        (*ingestion).describe,
	sentry.ItemNel:             (*ingestion).describe,

	sentry.ItemTraceMetric:  (*ingestion).translateTraceMetrics, // metrics.go
	sentry.ItemSession:      (*ingestion).translateSession,
	sentry.ItemSessions:     (*ingestion).translateSessions,
	sentry.ItemClientReport: (*ingestion).translateClientReport,
}

// described are the types that no translator looks into: their size does not matter.
func described(t sentry.ItemType) bool {
	switch t {
	case sentry.ItemAttachment, sentry.ItemReplayEvent, sentry.ItemReplayRecording, sentry.ItemReplayVideo,
		sentry.ItemRawSecurity, sentry.ItemSecurity, sentry.ItemNel:
		return true
	}
	return false
}

// What SDKs are asked to hold back when the pipeline of a signal refuses something: all that goes there, whatever it was.
var (
	profileTypes = []sentry.ItemType{sentry.ItemProfile, sentry.ItemProfileChunk}
	traceTypes   = []sentry.ItemType{sentry.ItemTransaction, sentry.ItemSpan}
	logTypes     = []sentry.ItemType{sentry.ItemEvent, sentry.ItemLog, sentry.ItemFeedback, sentry.ItemUserReport, sentry.ItemCheckIn}
	metricTypes  = []sentry.ItemType{sentry.ItemTraceMetric, sentry.ItemSession}
)

// source is what the request tells about all of its items.
func (in *ingestion) source() translate.Source {
	src := translate.Source{
		ProjectID:    in.auth.ProjectID,
		SDK:          in.sdk(),
		ReceivedNano: uint64(in.received.UnixNano()),
		PeriodType:   in.cfg.ProfileType,
		EventID:      in.envelope.Header.EventID,
		IncludePII:   in.cfg.IncludePII,
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
	return delivery{item: item, stops: traceTypes, send: func(ctx context.Context) error {
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
