// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
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

// Unusable data is counted, but is not an error: a pipeline must not fail because of an allocation
// profile, which this exporter never supports. Only data that is too large for the queue is an
// error.

func (e *sentryExporter) convertProfiles(ctx context.Context, profiles pprofile.Profiles) ([]*request, error) {
	export := tosentry.ProfilesToChunks(profiles, e.exportOptions())
	e.clocks.add(export.Clocks)
	e.telemetry.lost(ctx, e.telemetry.samplesDiscarded, export.Lost)
	e.telemetry.fieldsLost(ctx, export.Flaws)
	return e.newRequests(profiles.SampleCount(), &export)
}

func (e *sentryExporter) convertTraces(ctx context.Context, traces ptrace.Traces) ([]*request, error) {
	export := tosentry.TracesToTransactions(traces, e.exportOptions())
	e.telemetry.lost(ctx, e.telemetry.spansDiscarded, export.Lost)
	e.telemetry.fieldsLost(ctx, export.Flaws)
	return e.newRequests(traces.SpanCount(), &export)
}

func (e *sentryExporter) convertLogs(ctx context.Context, logs plog.Logs) ([]*request, error) {
	export := toitems.FromLogs(logs, toitems.LogOptions{
		Options:     toitems.Options{ExportOptions: e.exportOptions(), ReceivedNano: uint64(time.Now().UnixNano())},
		MinSeverity: e.cfg.Logs.minNumber(),
	})
	e.telemetry.lost(ctx, e.telemetry.logsDiscarded, export.Lost)
	e.telemetry.fieldsLost(ctx, export.Flaws)
	return e.newRequests(logs.LogRecordCount(), &export)
}

// convertMetrics translates metrics. The error states that cumulative points were dropped; the
// requests contain all other points.
func (e *sentryExporter) convertMetrics(ctx context.Context, metrics pmetric.Metrics) ([]*request, error) {
	export := toitems.FromMetrics(metrics, toitems.MetricOptions{
		Options:  toitems.Options{ExportOptions: e.exportOptions(), ReceivedNano: uint64(time.Now().UnixNano())},
		Selected: e.selected, Buckets: e.cfg.Metrics.Buckets, Exemplars: e.cfg.Metrics.Exemplars,
	})
	e.telemetry.lost(ctx, e.telemetry.pointsDiscarded, export.Lost)
	e.telemetry.fieldsLost(ctx, export.Flaws)
	requests, err := e.newRequests(metrics.DataPointCount(), &export)
	for _, loss := range export.Lost {
		if loss.Reason == toitems.ReasonCumulative {
			err = consumererror.NewPermanent(fmt.Errorf("%d data points are cumulative and were dropped, because Sentry adds up the values of a counter: "+
				"add the processor cumulativetodelta to the pipeline", loss.Count))
			e.logger.Error("Data points dropped", zap.Error(err))
		}
	}
	return requests, err
}

func (e *sentryExporter) exportOptions() tosentry.ExportOptions {
	return tosentry.ExportOptions{
		SDK:                  e.program(),
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
// number of elements of the message is distributed over the requests.
func (e *sentryExporter) newRequests(count int, export *tosentry.Export) (requests []*request, _ error) {
	n := len(export.Items)
	for i, item := range export.Items {
		share := count*(i+1)/n - count*i/n
		requests = append(requests, &request{Version: requestVersion, Count: max(1, share), Envelopes: []envelope{newEnvelope(item)}})
	}
	if lost := tooLarge(export.Lost); n == 0 && lost > 0 {
		err := fmt.Errorf("%d samples, spans, records or data points do not fit into an envelope of %d bytes", lost, e.cfg.maxItemBytes())
		e.logger.Error("Message dropped: too large for an envelope", zap.Error(err))
		return nil, consumererror.NewPermanent(err)
	}
	return requests, nil
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
	return envelope{EventID: item.EventID, Trace: item.Trace, Item: item.Item, Count: item.Count}
}
