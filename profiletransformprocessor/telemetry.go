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

// telemetry counts what becomes of profiles, observations and spans. The collector counts what other signals do in processors,
// and has nothing for profiles. Once nothing waits, incoming and restored profiles together are as many as outgoing ones, where
// transforms neither split profiles nor leave nothing of them.
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
			"Number of profiles that the processor was given."),
		restored: meter.Counter("otelcol_processor_profile_transform_restored_profiles", "{profile}",
			"Number of profiles that waited when the collector ended, and wait again: the run before was given them."),
		outgoing: meter.Counter("otelcol_processor_profile_transform_outgoing_profiles", "{profile}",
			"Number of profiles that the processor handed on, by what became of them."),
		dropped: meter.Counter("otelcol_processor_profile_transform_dropped_observations", "{observation}",
			"Number of observations that transforms dropped, by the reason."),
		linkedObservations: meter.Counter("otelcol_processor_profile_transform_linked_observations", "{observation}",
			"Number of observations with a link to a span, by how they came to it."),
		unlinkedObservations: meter.Counter("otelcol_processor_profile_transform_unlinked_observations", "{observation}",
			"Number of observations without a link to a span, by the reason."),
		spansSeen: meter.Counter("otelcol_processor_profile_transform_spans", "{span}",
			"Number of spans, by what became of them in the index."),
		indexSpans: meter.UpDownCounter("otelcol_processor_profile_transform_index_spans", "{span}",
			"Number of spans in the index now."),
		indexSessions: meter.UpDownCounter("otelcol_processor_profile_transform_index_sessions", "{session}",
			"Number of sessions in the index now."),
		heldMessages: meter.UpDownCounter("otelcol_processor_profile_transform_held_messages", "{message}",
			"Number of messages that wait for spans now."),
		heldBytes: meter.UpDownCounter("otelcol_processor_profile_transform_held_bytes", "By",
			"Size of the messages that wait for spans now, in OTLP."),
		storageErrors: meter.Counter("otelcol_processor_profile_transform_storage_errors", "{error}",
			"Number of operations of the storage that failed."),
		waitTime: meter.Histogram("otelcol_processor_profile_transform_wait_time", "s",
			"How long messages waited for spans, by what ended that.",
			0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600),
	}
	return t, meter.Err()
}

// outcome is what became of a profile.
type outcome string

const (
	outcomeSent    outcome = "sent"
	outcomeRefused outcome = "refused" // by the next consumer
	outcomeStored  outcome = "stored"  // for the next start, when there was no time to hand it on
	outcomeDropped outcome = "dropped" // then, without a storage
	outcomeExpired outcome = "expired" // refused by the next consumer for too long, while it accepted others
	outcomeEvicted outcome = "evicted" // likewise refused, when the queue was full and another tenant used less of it
)

func (t *telemetry) left(ctx context.Context, profiles int64, o outcome) {
	t.outgoing.Add(ctx, profiles, metric.WithAttributes(attribute.String("outcome", string(o))))
}

func (t *telemetry) heldChanged(ctx context.Context, messages, bytes int64) {
	t.heldMessages.Add(ctx, messages)
	t.heldBytes.Add(ctx, bytes)
}

func (t *telemetry) waited(ctx context.Context, wait time.Duration, why released) {
	t.waitTime.Record(ctx, wait.Seconds(), metric.WithAttributes(attribute.String("released", string(why))))
}

func (t *telemetry) linked(ctx context.Context, s spanlink.LinkStats) {
	for how, count := range map[string]int64{"covered": s.Linked, "guessed": s.Guessed, "assumed": s.Assumed, "kept": s.Kept} {
		if count > 0 {
			t.linkedObservations.Add(ctx, count, metric.WithAttributes(attribute.String("how", how)))
		}
	}
	for reason, count := range s.Reasons {
		t.unlinkedObservations.Add(ctx, count, metric.WithAttributes(attribute.String("reason", reason.String())))
	}
}

func (t *telemetry) spans(ctx context.Context, s spanlink.SpanStats) {
	for outcome, count := range map[string]int64{
		"indexed": s.Indexed, "waiting": s.Waiting, "unstated": s.Unstated, "no_session": s.NoSession,
		"duplicate": s.Duplicates, "unusable": s.Unusable, "late": s.Late, "evicted": s.Evicted, "expired": s.Expired,
	} {
		if count > 0 {
			t.spansSeen.Add(ctx, count, metric.WithAttributes(attribute.String("event", outcome)))
		}
	}
}

// lost counts what transforms dropped.
func (t *telemetry) lost(ctx context.Context, lost transform.Losses) {
	for reason, observations := range lost {
		t.dropped.Add(ctx, int64(observations), metric.WithAttributes(attribute.String("reason", string(reason))))
	}
}
