package sentryexporter

import (
	"context"

	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func (e *sentryExporter) convertProfiles(ctx context.Context, profiles pprofile.Profiles) (xexporterhelper.Request, error) {
	return &request{Count: profiles.SampleCount()}, nil
}

func (e *sentryExporter) convertTraces(ctx context.Context, traces ptrace.Traces) (xexporterhelper.Request, error) {
	return &request{Count: traces.SpanCount()}, nil
}
