// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

const scopeName = "github.com/otelcol-sentry/otelcol-sentry/sentryexporter"

// telemetry counts samples, spans and envelopes by outcome. Each attribute has a bounded set of
// values.
type telemetry struct {
	items               metric.Int64Counter
	bytes               metric.Int64Counter
	throttled           metric.Int64Counter
	samplesDiscarded    metric.Int64Counter
	spansDiscarded      metric.Int64Counter
	logsDiscarded       metric.Int64Counter
	pointsDiscarded     metric.Int64Counter
	exceptionsDiscarded metric.Int64Counter
	fieldsDiscarded     metric.Int64Counter
	unreadable          metric.Int64Counter

	attributes []attribute.KeyValue // of every value: the project, if there are several
}

// newTelemetry registers the instruments of metadata.yaml.
func newTelemetry(set component.TelemetrySettings, attributes []attribute.KeyValue) (*telemetry, error) {
	meter := collector.NewMeter(set, scopeName)
	t := &telemetry{
		attributes: attributes,
		items: meter.Counter("otelcol_exporter_sentry_envelope_items", "{item}",
			"Number of items that were posted to Sentry, by outcome."),
		bytes: meter.Counter("otelcol_exporter_sentry_envelope_bytes", "By",
			"Size of the payloads that Sentry accepted, before compression."),
		throttled: meter.Counter("otelcol_exporter_sentry_envelope_throttled", "{item}",
			"Number of times that one of Sentry's rate limits delayed an item."),
		samplesDiscarded: meter.Counter("otelcol_exporter_sentry_envelope_samples_discarded", "{sample}",
			"Number of samples that Sentry's format cannot represent."),
		spansDiscarded: meter.Counter("otelcol_exporter_sentry_envelope_spans_discarded", "{span}",
			"Number of spans and span events that Sentry's format cannot represent."),
		logsDiscarded: meter.Counter("otelcol_exporter_sentry_envelope_log_records_discarded", "{record}",
			"Number of log records that were not sent to Sentry."),
		pointsDiscarded: meter.Counter("otelcol_exporter_sentry_envelope_metric_points_discarded", "{point}",
			"Number of data points that were not sent to Sentry."),
		exceptionsDiscarded: meter.Counter("otelcol_exporter_sentry_envelope_exceptions_discarded", "{exception}",
			"Number of exceptions that did not become events."),
		fieldsDiscarded: meter.Counter("otelcol_exporter_sentry_envelope_fields_discarded", "{field}",
			"Number of fields that were omitted from sent data."),
		unreadable: meter.Counter("otelcol_exporter_sentry_envelope_unreadable_requests", "{request}",
			"Number of requests that were lost because they were damaged in the queue's storage."),
	}
	return t, meter.Err()
}

func (t *telemetry) add(ctx context.Context, counter metric.Int64Counter, n int, attributes ...attribute.KeyValue) {
	counter.Add(ctx, int64(n), metric.WithAttributes(append(attributes, t.attributes...)...))
}

// outcomes are the outcomes of an item by verdict.
var outcomes = map[verdict]string{sent: "sent", refused: "refused", limited: "deferred", failed: "deferred"}

func (t *telemetry) posted(ctx context.Context, e *envelope, r reply) {
	attributes := []attribute.KeyValue{
		attribute.String("type", e.Item.Header.Type.Label()), attribute.String("outcome", outcomes[r.verdict]),
	}
	if r.reason != "" {
		attributes = append(attributes, attribute.String("reason", r.reason))
	}
	t.add(ctx, t.items, 1+len(e.More), attributes...)
	if r.verdict == sent {
		t.add(ctx, t.bytes, e.size(), attribute.String("type", e.Item.Header.Type.Label()))
	}
}

// halved counts a chunk that is too large and is replaced by its halves.
func (t *telemetry) halved(ctx context.Context, e *envelope) {
	t.posted(ctx, e, reply{verdict: failed, reason: reasonTooLarge})
}

func (t *telemetry) throttledBy(ctx context.Context, category sentry.Category) {
	t.add(ctx, t.throttled, 1, attribute.String("category", category.Label()))
}

func (t *telemetry) lost(ctx context.Context, counter metric.Int64Counter, lost []discard.Loss) {
	for _, loss := range lost {
		t.add(ctx, counter, loss.Count, attribute.String("reason", string(loss.Reason)))
	}
}

func (t *telemetry) fieldsLost(ctx context.Context, flaws []discard.Flaw) {
	for _, flaw := range flaws {
		t.add(ctx, t.fieldsDiscarded, flaw.Count, attribute.String("field", flaw.Field))
	}
}
