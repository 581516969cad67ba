// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

const scopeName = "github.com/otelcol-sentry/otelcol-sentry/sentryteeextension"

// telemetry counts the outcomes of requests. Each attribute has a bounded set of values.
type telemetry struct {
	requests      metric.Int64Counter
	items         metric.Int64Counter
	attempts      metric.Float64Histogram
	storageErrors metric.Int64Counter
	logger        *zap.Logger
	state         atomic.Pointer[func() observed]
}

// observed is the state of a forwarder.
type observed struct {
	requests, bytes, spoolBytes int64
	oldest                      time.Duration
	limits                      map[sentry.Category]int64 // number of keys with a limit
}

// outcomeDropped is the outcome of requests that are not retried; forwarder.go has the reasons. For
// other outcomes, see outcomes.
const outcomeDropped = "dropped"

// newTelemetry registers the instruments that metadata.yaml lists.
func newTelemetry(set component.TelemetrySettings) (*telemetry, error) {
	meter := collector.NewMeter(set, scopeName)
	t := &telemetry{
		logger: collector.LimitLogs(set.Logger),
		requests: meter.Counter("otelcol_extension_sentry_tee_requests", "{request}",
			"Number of requests to forward, by outcome."),
		items: meter.Counter("otelcol_extension_sentry_tee_omitted", "{item}",
			"Quantity of data omitted from forwarded requests and reported to Sentry, by data category."),
		attempts: meter.Histogram("otelcol_extension_sentry_tee_upstream_duration", "s",
			"Sentry's response time, by outcome.", 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
		storageErrors: meter.Counter("otelcol_extension_sentry_tee_storage_errors", "{error}",
			"Number of failed storage operations."),
	}
	gauge := func(name, unit, description string, value func(observed) int64) {
		meter.Gauge(name, unit, description, func(o metric.Int64Observer) {
			if state := t.state.Load(); state != nil {
				o.Observe(value((*state)()))
			}
		})
	}
	gauge("otelcol_extension_sentry_tee_waiting_requests", "{request}",
		"Number of requests that are waiting or being forwarded.", func(o observed) int64 { return o.requests })
	gauge("otelcol_extension_sentry_tee_bytes_in_flight", "By",
		"Memory used by requests that are waiting or are being received or forwarded.", func(o observed) int64 { return o.bytes })
	gauge("otelcol_extension_sentry_tee_spool_bytes", "By",
		"Size of the requests in storage.", func(o observed) int64 { return o.spoolBytes })
	gauge("otelcol_extension_sentry_tee_oldest_age", "s",
		"Age of the oldest waiting request.", func(o observed) int64 { return int64(o.oldest / time.Second) })
	meter.Gauge("otelcol_extension_sentry_tee_active_limits", "{key}",
		"Number of rate-limited keys, by category.", func(o metric.Int64Observer) {
			if state := t.state.Load(); state != nil {
				for category, keys := range (*state)().limits {
					o.Observe(keys, metric.WithAttributes(attribute.String("category", category.Label())))
				}
			}
		})
	return t, meter.Err()
}

// observe sets the source of the gauges.
func (t *telemetry) observe(state func() observed) { t.state.Store(&state) }

// ended counts a request, once, when it ends.
func (t *telemetry) ended(endpoint, outcome, reason string) {
	attributes := []attribute.KeyValue{attribute.String("endpoint", endpoint), attribute.String("outcome", outcome)}
	if reason != "" {
		attributes = append(attributes, attribute.String("reason", reason))
	}
	t.requests.Add(context.Background(), 1, metric.WithAttributes(attributes...))
}

// omitted counts omitted data, with the categories and reasons of client reports.
func (t *telemetry) omitted(losses omit.Losses) {
	for l, quantity := range losses {
		t.items.Add(context.Background(), quantity, metric.WithAttributes(
			attribute.String("category", string(l.Category)), attribute.String("reason", l.Label())))
	}
}

// answered records the duration of an attempt.
func (t *telemetry) answered(ctx context.Context, r *reply, took time.Duration) {
	outcome := outcomes[r.verdict]
	if r.verdict == failed {
		outcome = r.reason
	}
	t.attempts.Record(ctx, took.Seconds(), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// storageFailed counts a failed operation.
func (t *telemetry) storageFailed(operation string, err error) {
	t.storageErrors.Add(context.Background(), 1, metric.WithAttributes(attribute.String("operation", operation)))
	t.logger.Error("Storage operation failed", zap.String("operation", operation), zap.Error(err))
}
