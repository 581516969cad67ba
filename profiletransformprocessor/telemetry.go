// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/transform"
)

const scopeName = "github.com/otelcol-sentry/otelcol-sentry/profiletransformprocessor"

// telemetry counts profiles, observations and spans by outcome. The collector has such counters for
// other signals, but not for profiles. When no message is held, the number of outgoing profiles
// equals that of incoming and restored profiles, unless transforms split or drop profiles.
type telemetry struct {
	incoming metric.Int64Counter
	restored metric.Int64Counter
	outgoing metric.Int64Counter
	dropped  metric.Int64Counter

	linkedObservations   metric.Int64Counter
	unlinkedObservations metric.Int64Counter
	spansSeen            metric.Int64Counter
	indexSpans           metric.Int64UpDownCounter
	indexSessions        metric.Int64UpDownCounter
	indexBytes           metric.Int64UpDownCounter
	indexLimit           metric.Int64UpDownCounter
	heldMessages         metric.Int64UpDownCounter
	heldBytes            metric.Int64UpDownCounter
	waitTime             metric.Float64Histogram
	storageErrors        metric.Int64Counter
}

// newTelemetry registers the instruments that metadata.yaml lists.
func newTelemetry(set component.TelemetrySettings) (*telemetry, error) {
	meter := collector.NewMeter(set, scopeName)
	t := &telemetry{
		incoming: meter.Counter("otelcol_processor_profile_transform_incoming_profiles", "{profile}",
			"Number of profiles that the processor received."),
		restored: meter.Counter("otelcol_processor_profile_transform_restored_profiles", "{profile}",
			"Number of profiles restored from the storage; the previous run received them."),
		outgoing: meter.Counter("otelcol_processor_profile_transform_outgoing_profiles", "{profile}",
			"Number of profiles that left the processor, by outcome."),
		dropped: meter.Counter("otelcol_processor_profile_transform_dropped_observations", "{observation}",
			"Number of observations that transforms dropped, by reason."),
		linkedObservations: meter.Counter("otelcol_processor_profile_transform_linked_observations", "{observation}",
			"Number of observations with a link to a span, by kind of match."),
		unlinkedObservations: meter.Counter("otelcol_processor_profile_transform_unlinked_observations", "{observation}",
			"Number of observations without a link to a span, by reason."),
		spansSeen: meter.Counter("otelcol_processor_profile_transform_spans", "{span}",
			"Number of spans, by event in the index."),
		indexSpans: meter.UpDownCounter("otelcol_processor_profile_transform_index_spans", "{span}",
			"Number of spans currently in the index."),
		indexSessions: meter.UpDownCounter("otelcol_processor_profile_transform_index_sessions", "{session}",
			"Number of sessions currently in the index."),
		indexBytes: meter.UpDownCounter("otelcol_processor_profile_transform_index_bytes", "By",
			"Estimated memory that the index currently uses."),
		indexLimit: meter.UpDownCounter("otelcol_processor_profile_transform_index_limit", "By",
			"Memory that the index may use before it drops spans."),
		heldMessages: meter.UpDownCounter("otelcol_processor_profile_transform_held_messages", "{message}",
			"Number of messages that currently wait for spans or for their batch."),
		heldBytes: meter.UpDownCounter("otelcol_processor_profile_transform_held_bytes", "By",
			"Size of the messages that currently wait for spans or for their batch, encoded as OTLP or compressed."),
		storageErrors: meter.Counter("otelcol_processor_profile_transform_storage_errors", "{error}",
			"Number of failed storage operations."),
		waitTime: meter.Histogram("otelcol_processor_profile_transform_wait_time", "s",
			"Time that messages waited for spans and for their batch, by reason for their release.",
			0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600),
	}
	return t, meter.Err()
}

// outcome states how a profile left the processor.
type outcome string

const (
	outcomeSent    outcome = "sent"
	outcomeRefused outcome = "refused" // by the next component
	outcomeStored  outcome = "stored"  // left in the storage for the next start, because there was no time to forward it
	outcomeDropped outcome = "dropped" // the same, but without a storage
	outcomeExpired outcome = "expired" // refused by the next component for too long, while it accepted others
	outcomeEvicted outcome = "evicted" // refused by the next component while the queue was full and another tenant used less of it
)

func (t *telemetry) countOutgoing(ctx context.Context, profiles int64, o outcome) {
	t.outgoing.Add(ctx, profiles, metric.WithAttributes(attribute.String("outcome", string(o))))
}

func (t *telemetry) heldChanged(ctx context.Context, messages, bytes int64) {
	t.heldMessages.Add(ctx, messages)
	t.heldBytes.Add(ctx, bytes)
}

func (t *telemetry) recordWait(ctx context.Context, wait time.Duration, why releaseReason) {
	t.waitTime.Record(ctx, wait.Seconds(), metric.WithAttributes(attribute.String("released", string(why))))
}

func (t *telemetry) countLinked(ctx context.Context, s spanlink.LinkStats) {
	for how, count := range map[string]int64{"covered": s.Linked, "guessed": s.Guessed, "assumed": s.Assumed, "kept": s.Kept} {
		if count > 0 {
			t.linkedObservations.Add(ctx, count, metric.WithAttributes(attribute.String("how", how)))
		}
	}
	for reason, count := range s.Reasons {
		t.unlinkedObservations.Add(ctx, count, metric.WithAttributes(attribute.String("reason", reason.String())))
	}
}

func (t *telemetry) countSpans(ctx context.Context, s spanlink.SpanStats) {
	for outcome, count := range map[string]int64{
		"indexed": s.Indexed, "waiting": s.Waiting, "unstated": s.Unstated, "no_session": s.NoSession,
		"duplicate": s.Duplicates, "unusable": s.Unusable, "late": s.Late, "evicted": s.Evicted, "expired": s.Expired,
	} {
		if count > 0 {
			t.spansSeen.Add(ctx, count, metric.WithAttributes(attribute.String("event", outcome)))
		}
	}
}

// countDropped counts observations that transforms dropped.
func (t *telemetry) countDropped(ctx context.Context, lost transform.Losses) {
	for reason, observations := range lost {
		t.dropped.Add(ctx, int64(observations), metric.WithAttributes(attribute.String("reason", string(reason))))
	}
}
