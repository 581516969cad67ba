// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/downloads"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/uploads"
)

const scopeName = "github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor"

// telemetry counts frames by result, and opened files.
type telemetry struct {
	frames    metric.Int64Counter
	files     metric.Int64Counter
	uploads   metric.Int64Counter
	downloads metric.Int64Counter
	held      metric.Int64Counter
	known     metric.Int64UpDownCounter
	openBytes metric.Int64UpDownCounter
	openTime  metric.Float64Histogram
}

// newTelemetry registers the instruments that metadata.yaml lists.
func newTelemetry(set component.TelemetrySettings) (*telemetry, error) {
	meter := collector.NewMeter(set, scopeName)
	t := &telemetry{
		frames: meter.Counter("otelcol_processor_symbolicate_frames", "{frame}",
			"Number of frames that may need a symbol file, by result. A frame is counted once per message."),
		files: meter.Counter("otelcol_processor_symbolicate_opened_files", "{file}",
			"Number of attempts to open a symbol file, by outcome."),
		uploads: meter.Counter("otelcol_processor_symbolicate_uploads", "{upload}",
			"Number of uploaded files and archives, and of rejected requests."),
		downloads: meter.Counter("otelcol_processor_symbolicate_downloads", "{download}",
			"Number of attempts to download a symbol file."),
		held: meter.Counter("otelcol_processor_symbolicate_held_messages", "{message}",
			"Number of messages that waited for symbol files, by how the wait ended."),
		known: meter.UpDownCounter("otelcol_processor_symbolicate_known_files", "{file}",
			"Number of symbol files in the directory."),
		openBytes: meter.UpDownCounter("otelcol_processor_symbolicate_open_bytes", "By",
			"Memory used by open symbol files."),
		openTime: meter.Histogram("otelcol_processor_symbolicate_open_time", "s",
			"Time to open a symbol file.", 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60),
	}
	return t, meter.Err()
}

func (t *telemetry) countFrames(ctx context.Context, counts symbolicate.Counts) {
	for status, count := range counts {
		t.frames.Add(ctx, int64(count), metric.WithAttributes(attribute.String("status", string(status))))
	}
}

func (t *telemetry) countUpload(ctx context.Context, outcome uploads.Outcome) {
	t.uploads.Add(ctx, 1, metric.WithAttributes(attribute.String("upload", string(outcome))))
}

func (t *telemetry) countDownload(ctx context.Context, outcome downloads.Outcome) {
	t.downloads.Add(ctx, 1, metric.WithAttributes(attribute.String("download", string(outcome))))
}

func (t *telemetry) countHeld(ctx context.Context, r release) {
	t.held.Add(ctx, 1, metric.WithAttributes(attribute.String("release", string(r))))
}

func (t *telemetry) countFile(ctx context.Context, outcome string) {
	t.files.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}
