package profiletransformprocessor

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/transform"
)

const scopeName = "github.com/otelcol-sentry/otelcol-sentry/profiletransformprocessor"

// telemetry counts what becomes of profiles. The helper for processors, which counts the other signals, has nothing for them.
type telemetry struct {
	incoming metric.Int64Counter
	outgoing metric.Int64Counter
	dropped  metric.Int64Counter
}

// newTelemetry registers the instruments that metadata.yaml lists.
func newTelemetry(set component.TelemetrySettings) (*telemetry, error) {
	meter := set.MeterProvider.Meter(scopeName)
	var errs error
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = errors.Join(errs, err)
		return c
	}
	t := &telemetry{
		incoming: counter("otelcol_processor_profile_transform_incoming_profiles", "{profile}",
			"Number of profiles that the processor was given."),
		outgoing: counter("otelcol_processor_profile_transform_outgoing_profiles", "{profile}",
			"Number of profiles that the processor handed on, by what became of them."),
		dropped: counter("otelcol_processor_profile_transform_dropped_observations", "{observation}",
			"Number of observations that transforms dropped, by the reason."),
	}
	return t, errs
}

func (t *telemetry) handedOn(ctx context.Context, profiles int64, err error) {
	outcome := "sent"
	if err != nil {
		outcome = "refused"
	}
	t.outgoing.Add(ctx, profiles, metric.WithAttributes(attribute.String("outcome", outcome)))
}

// lost counts what transforms dropped.
func (t *telemetry) lost(ctx context.Context, lost transform.Losses) {
	for reason, observations := range lost {
		t.dropped.Add(ctx, int64(observations), metric.WithAttributes(attribute.String("reason", string(reason))))
	}
}
