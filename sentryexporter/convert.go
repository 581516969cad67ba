package sentryexporter

import (
	"context"

	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate"
)

// What nothing can be made of is counted, and is no error: a pipeline is not to fail for a profile of allocations, which this
// exporter will never take.

func (e *sentryExporter) convertProfiles(ctx context.Context, profiles pprofile.Profiles) (xexporterhelper.Request, error) {
	export := translate.ProfilesToChunks(profiles, e.exportOptions())
	e.destination.clocks.add(export.Clocks)
	e.telemetry.lost(ctx, e.telemetry.samplesDiscarded, export.Lost)
	e.telemetry.fieldsLost(ctx, export.Flaws)
	return newRequest(profiles.SampleCount(), export.Items), nil
}

func (e *sentryExporter) convertTraces(ctx context.Context, traces ptrace.Traces) (xexporterhelper.Request, error) {
	export := translate.TracesToTransactions(traces, e.exportOptions())
	e.telemetry.lost(ctx, e.telemetry.spansDiscarded, export.Lost)
	e.telemetry.fieldsLost(ctx, export.Flaws)
	return newRequest(traces.SpanCount(), export.Items), nil
}

func (e *sentryExporter) exportOptions() translate.ExportOptions {
	return translate.ExportOptions{
		SDK:                  e.program(),
		ProfilerIDAttributes: e.cfg.ProfilerIDAttributes,
		Profiled:             e.destination.profiled.Load(),
		WallSessions:         e.destination.clocks.onlyWall(),
		SpansOnly:            e.cfg.SpansAs == spansAsContainers,
	}
}

// program is the collector, by the name and version of its build.
func (e *sentryExporter) program() sentry.ClientSDK {
	program := sentry.ClientSDK{Name: e.settings.BuildInfo.Command, Version: e.settings.BuildInfo.Version}
	if program.Name == "" || program.Version == "" { // Sentry refuses chunks without either
		return sentry.ClientSDK{Name: "otelcol-sentry", Version: "0.0.0"}
	}
	return program
}

// newRequest takes what a message of so many samples or spans became.
func newRequest(count int, items []translate.Outgoing) *request {
	r := &request{Count: count}
	for _, item := range items {
		r.Envelopes = append(r.Envelopes, envelope{EventID: item.EventID, Trace: item.Trace, Item: item.Item, Count: item.Count})
	}
	return r
}
