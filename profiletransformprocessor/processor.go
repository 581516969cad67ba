package profiletransformprocessor

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/processor"
)

// profilesProcessor is the component of one profiles pipeline.
type profilesProcessor struct {
	component.StartFunc
	component.ShutdownFunc
	telemetry *telemetry
	transform transformer
	next      xconsumer.Profiles
}

func newProfilesProcessor(cfg *Config, set processor.Settings, next xconsumer.Profiles) (*profilesProcessor, error) {
	telemetry, err := newTelemetry(set.TelemetrySettings)
	if err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	return &profilesProcessor{telemetry: telemetry, transform: cfg.Transforms.transformer(), next: next}, nil
}

// Capabilities: profiles are changed in place.
func (p *profilesProcessor) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

// ConsumeProfiles takes profiles over.
func (p *profilesProcessor) ConsumeProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	p.telemetry.incoming.Add(ctx, int64(profiles.ProfileCount()))
	return p.handOn(ctx, profiles)
}

// handOn reshapes profiles and gives them to the next consumer. Of several messages, one that is refused does not cost the
// others.
func (p *profilesProcessor) handOn(ctx context.Context, profiles pprofile.Profiles) error {
	parts, lost := p.transform(profiles)
	p.telemetry.lost(ctx, lost)
	var errs error
	for _, part := range parts {
		count := int64(part.ProfileCount())
		err := p.next.ConsumeProfiles(ctx, part)
		p.telemetry.handedOn(ctx, count, err)
		errs = errors.Join(errs, err)
	}
	return errs
}
