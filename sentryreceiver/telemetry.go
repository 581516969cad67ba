// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver/internal/ledger"
)

const scopeName = "github.com/otelcol-sentry/otelcol-sentry/sentryreceiver"

// dataFormat is the format name in the collector's own receiver metrics and spans.
const dataFormat = "sentry"

// telemetry counts requests, items and samples by outcome. The values of each attribute are
// bounded: made-up types count as "unknown"; reasons, rules and fields are constants; and package
// ledger limits the senders.
type telemetry struct {
	items             *ledger.Ledger
	samplesDiscarded  metric.Int64Counter
	elementsDiscarded metric.Int64Counter
	fieldsDiscarded   metric.Int64Counter
	tolerated         metric.Int64Counter
	requestsRejected  metric.Int64Counter
	valuesScrubbed    metric.Int64Counter
	connectionsClosed metric.Int64Counter
	profilesAligned   metric.Int64Counter
	linkedCount       metric.Int64Counter
	unlinkedCount     metric.Int64Counter
	bytesInFlight     metric.Int64UpDownCounter
}

// newTelemetry registers the instruments that metadata.yaml lists.
func newTelemetry(set component.TelemetrySettings) (*telemetry, error) {
	meter := collector.NewMeter(set, scopeName)
	t := &telemetry{
		items: ledger.New(meter.Counter("otelcol_receiver_sentry_items", "{item}",
			"Number of envelope items, by outcome and sender.")),
		samplesDiscarded: meter.Counter("otelcol_receiver_sentry_samples_discarded", "{sample}",
			"Number of unusable samples in profiles that were otherwise decoded."),
		elementsDiscarded: meter.Counter("otelcol_receiver_sentry_elements_discarded", "{element}",
			"Number of unusable spans, log records, metric values and measurements in items that were otherwise decoded."),
		fieldsDiscarded: meter.Counter("otelcol_receiver_sentry_fields_discarded", "{field}",
			"Number of fields that were dropped or converted because they did not have their published type or have no equivalent in OTLP."),
		tolerated: meter.Counter("otelcol_receiver_sentry_profiles_tolerated", "{profile}",
			"Number of profiles that broke a published rule and were kept, once per broken rule."),
		requestsRejected: meter.Counter("otelcol_receiver_sentry_requests_rejected", "{request}",
			"Number of requests that were rejected completely."),
		connectionsClosed: meter.Counter("otelcol_receiver_sentry_connections_closed", "{connection}",
			"Number of connections that were closed because of a limit."),
		profilesAligned: meter.Counter("otelcol_receiver_sentry_profiles_aligned", "{profile}",
			"Number of V1 profiles that were linked with a corrected start time, by reason."),
		linkedCount: meter.Counter("otelcol_receiver_sentry_linked_observations", "{observation}",
			"Number of observations of V1 profiles that were linked to a span."),
		unlinkedCount: meter.Counter("otelcol_receiver_sentry_unlinked_observations", "{observation}",
			"Number of observations of V1 profiles without a link to a span, by reason."),
		bytesInFlight: meter.UpDownCounter("otelcol_receiver_sentry_bytes_in_flight", "By",
			"Size of request bodies that are being read, decoded or translated, and of output that is being delivered."),
	}
	t.valuesScrubbed = meter.Counter("otelcol_receiver_sentry_values_scrubbed", "{value}",
		"Number of values that scrubbing replaced or removed, by rule and signal.")
	return t, meter.Err()
}

func (t *telemetry) itemDone(ctx context.Context, from ledger.Sender, item sentry.ItemType, o pipeline.Outcome, reason string) {
	t.items.Count(ctx, from, item, o, reason)
}

// itemsLost counts the items of an envelope that was rejected as a whole.
func (t *telemetry) itemsLost(ctx context.Context, from ledger.Sender, items []sentry.Item, reason string) {
	for i := range items {
		t.itemDone(ctx, from, items[i].Header.Type, pipeline.Discarded, reason)
	}
}

// lost counts the losses of an item.
func (t *telemetry) lost(ctx context.Context, item sentry.ItemType, out *sentryitems.Result) {
	t.samplesLost(ctx, out.Samples)
	t.elementsLost(ctx, item, out.Elements)
	t.fieldsLost(ctx, item, out.Fields)
	for _, rule := range out.Tolerated {
		t.tolerated.Add(ctx, 1, metric.WithAttributes(attribute.String("rule", rule)))
	}
}

func (t *telemetry) samplesLost(ctx context.Context, lost []discard.Loss) {
	for _, loss := range lost {
		t.samplesDiscarded.Add(ctx, int64(loss.Count), metric.WithAttributes(attribute.String("reason", string(loss.Reason))))
	}
}

func (t *telemetry) elementsLost(ctx context.Context, item sentry.ItemType, lost []discard.Loss) {
	for _, loss := range lost {
		t.elementsDiscarded.Add(ctx, int64(loss.Count), metric.WithAttributes(
			attribute.String("type", item.Label()), attribute.String("reason", string(loss.Reason))))
	}
}

func (t *telemetry) fieldsLost(ctx context.Context, item sentry.ItemType, flaws []discard.Flaw) {
	for _, flaw := range flaws {
		t.fieldsDiscarded.Add(ctx, int64(flaw.Count), metric.WithAttributes(
			attribute.String("type", item.Label()), attribute.String("field", flaw.Field)))
	}
}

func (t *telemetry) aligned(ctx context.Context, why profile.Alignment) {
	if why != profile.NotAligned {
		t.profilesAligned.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", string(why))))
	}
}

func (t *telemetry) linked(ctx context.Context, s spanlink.LinkStats) {
	t.linkedCount.Add(ctx, s.Linked)
	for reason, count := range s.Reasons {
		t.unlinked(ctx, reason.String(), count)
	}
}

func (t *telemetry) unlinked(ctx context.Context, reason string, observations int64) {
	t.unlinkedCount.Add(ctx, observations, metric.WithAttributes(attribute.String("reason", reason)))
}

// withoutTransaction counts the observations of profiles without a transaction.
func (t *telemetry) withoutTransaction(ctx context.Context, all []sentryitems.Unlinked) {
	for _, u := range all {
		t.unlinked(ctx, sentryitems.ReasonNoTransaction, spanlink.Observations(u.Profiles))
	}
}

func (t *telemetry) bytesTaken(ctx context.Context, delta int64) { t.bytesInFlight.Add(ctx, delta) }

func (t *telemetry) requestRejected(ctx context.Context, why *rejection) {
	attributes := []attribute.KeyValue{attribute.String("reason", why.reason)}
	if why.asked != "" {
		attributes = append(attributes, attribute.String("endpoint", why.asked))
	}
	t.requestsRejected.Add(ctx, 1, metric.WithAttributes(attributes...))
}

func (t *telemetry) connectionClosed(reason string) {
	t.connectionsClosed.Add(context.Background(), 1, metric.WithAttributes(attribute.String("reason", reason)))
}

func (t *telemetry) scrubbed(ctx context.Context, s pipeline.Signal, rule string, n int64) {
	t.valuesScrubbed.Add(ctx, n, metric.WithAttributes(attribute.String("rule", rule), attribute.String("signal", s.String())))
}
