// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

const scopeName = "github.com/otelcol-sentry/otelcol-sentry/measurereceiver"

// dataFormat is the format in the collector's own receiver metrics and spans.
const dataFormat = "measure"

// Outcomes of files, in addition to pipeline.Discarded.
const (
	outcomeAnnounced    pipeline.Outcome = "announced"    // the app may upload it
	outcomeStored       pipeline.Outcome = "stored"       //
	outcomeDropped      pipeline.Outcome = "dropped"      // no directory is configured
	outcomeUnidentified pipeline.Outcome = "unidentified" // a mapping file stored by its build only
)

// reasonNoPoint is the reason of events without a data point.
const reasonNoPoint = "no_data_point"

// telemetry counts requests, items and files by outcome. Each attribute has a bounded set of
// values.
type telemetry struct {
	items             metric.Int64Counter
	flawed            metric.Int64Counter
	duplicates        metric.Int64Counter
	files             metric.Int64Counter
	fileBytes         metric.Int64Counter
	requestsRejected  metric.Int64Counter
	valuesScrubbed    metric.Int64Counter
	connectionsClosed metric.Int64Counter
}

// newTelemetry registers the instruments that metadata.yaml lists.
func newTelemetry(set component.TelemetrySettings) (*telemetry, error) {
	meter := collector.NewMeter(set, scopeName)
	t := &telemetry{
		items: meter.Counter("otelcol_receiver_measure_items", "{item}",
			"Number of events and spans, by outcome."),
		flawed: meter.Counter("otelcol_receiver_measure_items_flawed", "{item}",
			"Number of events and spans that were kept although a field had the wrong type and was dropped or converted."),
		duplicates: meter.Counter("otelcol_receiver_measure_batches_repeated", "{batch}",
			"Number of duplicate batches."),
		files: meter.Counter("otelcol_receiver_measure_files", "{file}",
			"Number of attachments and mapping files, by outcome."),
		fileBytes: meter.Counter("otelcol_receiver_measure_file_size", "By",
			"Size of the stored attachments and mapping files."),
		requestsRejected: meter.Counter("otelcol_receiver_measure_requests_rejected", "{request}",
			"Number of requests that were rejected, completely or in part."),
		connectionsClosed: meter.Counter("otelcol_receiver_measure_connections_closed", "{connection}",
			"Number of connections that were closed because of a limit."),
	}
	t.valuesScrubbed = meter.Counter("otelcol_receiver_measure_values_scrubbed", "{value}",
		"Number of values that scrubbing replaced or removed, by rule and signal.")
	return t, meter.Err()
}

func (t *telemetry) itemsDone(ctx context.Context, label string, o pipeline.Outcome, reason string, n int) {
	attributes := []attribute.KeyValue{attribute.String("type", label), attribute.String("outcome", string(o))}
	if reason != "" {
		attributes = append(attributes, attribute.String("reason", reason))
	}
	t.items.Add(ctx, int64(n), metric.WithAttributes(attributes...))
}

// batchRead counts the losses of a batch in decoding and validation.
func (t *telemetry) batchRead(ctx context.Context, b *measure.Batch) {
	for _, loss := range b.Lost {
		t.itemsDone(ctx, loss.Label, pipeline.Discarded, string(loss.Reason), loss.Count)
	}
	for _, loss := range b.Flawed {
		t.flawed.Add(ctx, int64(loss.Count), metric.WithAttributes(attribute.String("type", loss.Label)))
	}
}

func (t *telemetry) batchRepeated(ctx context.Context, state string) {
	t.duplicates.Add(ctx, 1, metric.WithAttributes(attribute.String("state", state)))
}

func (t *telemetry) fileDone(ctx context.Context, fileType measure.FileType, o pipeline.Outcome, size int64) {
	kind := attribute.String("type", string(fileType))
	t.files.Add(ctx, 1, metric.WithAttributes(kind, attribute.String("outcome", string(o))))
	if size > 0 {
		t.fileBytes.Add(ctx, size, metric.WithAttributes(kind))
	}
}

func (t *telemetry) requestRejected(ctx context.Context, reason string) {
	t.requestsRejected.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", reason)))
}

func (t *telemetry) connectionClosed(reason string) {
	t.connectionsClosed.Add(context.Background(), 1, metric.WithAttributes(attribute.String("reason", reason)))
}

func (t *telemetry) scrubbed(ctx context.Context, s pipeline.Signal, rule string, n int64) {
	t.valuesScrubbed.Add(ctx, n, metric.WithAttributes(attribute.String("rule", rule), attribute.String("signal", s.String())))
}
