// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/toitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// Data that this exporter can never send is counted and logged, but is not an error: the collector
// joins the errors of all exporters of a pipeline, and a receiver responds to the first permanent
// one that everything was dropped, although the other exporters accepted it
// (go.opentelemetry.io/collector/receiver, "Error Handling"). Errors mean that the sender shall
// repeat the message.

func (e *sentryExporter) convertProfiles(ctx context.Context, profiles pprofile.Profiles) []*request {
	export := tosentry.ProfilesToChunks(profiles, e.exportOptions())
	e.clocks.add(export.Clocks)
	e.telemetry.lost(ctx, e.telemetry.samplesDiscarded, export.Lost)
	e.telemetry.fieldsLost(ctx, export.Flaws)
	return e.newRequests(profiles.SampleCount(), &export, sentry.MaxOutgoingChunk)
}

func (e *sentryExporter) convertTraces(ctx context.Context, traces ptrace.Traces) []*request {
	export := tosentry.TracesToTransactions(traces, e.exportOptions())
	e.telemetry.lost(ctx, e.telemetry.spansDiscarded, export.Lost)
	e.telemetry.fieldsLost(ctx, export.Flaws)
	return e.newRequests(traces.SpanCount(), &export, sentry.MaxOutgoingContainer)
}

func (e *sentryExporter) convertLogs(ctx context.Context, logs plog.Logs) []*request {
	export := toitems.FromLogs(logs, toitems.LogOptions{
		ExportOptions: e.exportOptions(),
		MinSeverity:   e.cfg.Logs.minNumber(),
	})
	e.telemetry.lost(ctx, e.telemetry.logsDiscarded, export.Lost)
	e.telemetry.fieldsLost(ctx, export.Flaws)
	return e.newRequests(logs.LogRecordCount(), &export, sentry.MaxOutgoingElements)
}

func (e *sentryExporter) convertMetrics(ctx context.Context, metrics pmetric.Metrics) []*request {
	export := toitems.FromMetrics(metrics, toitems.MetricOptions{
		ExportOptions: e.exportOptions(),
		Selected:      e.selected, Buckets: e.cfg.Metrics.Buckets, Exemplars: e.cfg.Metrics.Exemplars,
	})
	e.telemetry.lost(ctx, e.telemetry.pointsDiscarded, export.Lost)
	e.telemetry.fieldsLost(ctx, export.Flaws)
	for _, loss := range export.Lost {
		if loss.Reason == toitems.ReasonCumulative {
			e.logger.Error("Cumulative data points dropped, because Sentry adds up the values of a counter: "+
				"add the processor cumulativetodelta to the pipeline", zap.Int("points", loss.Count))
		}
	}
	return e.newRequests(metrics.DataPointCount(), &export, sentry.MaxOutgoingElements)
}

func (e *sentryExporter) exportOptions() tosentry.ExportOptions {
	return tosentry.ExportOptions{
		SDK:                  e.program(),
		ReceivedNano:         uint64(time.Now().UnixNano()),
		MaxItemBytes:         e.cfg.maxItemBytes(),
		ProfilerIDAttributes: e.cfg.ProfilerIDAttributes,
		Profiled:             e.profiled.Load(),
		WallSessions:         e.clocks.onlyWall(),
		SpansOnly:            e.cfg.SpansAs == spansAsContainers,
	}
}

// program returns the collector's name and version.
func (e *sentryExporter) program() sentry.ClientSDK {
	program := sentry.ClientSDK{Name: e.settings.BuildInfo.Command, Version: e.settings.BuildInfo.Version}
	if program.Name == "" || program.Version == "" { // Sentry rejects chunks without them
		return sentry.ClientSDK{Name: "otelcol-sentry", Version: "0.0.0"}
	}
	return program
}

// newRequests returns one request per envelope, so that envelopes do not wait for each other. The
// number of elements of the message is distributed over the items. The limit is the largest payload
// that Sentry accepts.
func (e *sentryExporter) newRequests(count int, export *tosentry.Export, limit int) (requests []*request) {
	n := len(export.Items)
	for i, item := range export.Items {
		share := max(1, count*(i+1)/n-count*i/n)
		if last := len(requests) - 1; last < 0 || !requests[last].absorb(share, &item) {
			requests = append(requests, newRequest(share, newEnvelope(item)))
		}
	}
	if lost := tooLarge(export.Lost); lost > 0 {
		e.logger.Error(fmt.Sprintf("Data dropped: larger than %d bytes", min(limit, e.cfg.maxItemBytes())), zap.Int("elements", lost))
	}
	return requests
}

func tooLarge(lost []discard.Loss) (count int) {
	for _, loss := range lost {
		if loss.Reason == jsonscan.ReasonTooLarge || loss.Reason == discard.ReasonExceedSizeLimit {
			count += loss.Count
		}
	}
	return count
}

func newEnvelope(item tosentry.Outgoing) envelope {
	return envelope{EventID: item.EventID, Trace: item.Trace, Item: item.Item, Count: item.Count, DriftMilli: item.DriftMilli, Client: item.Client}
}
