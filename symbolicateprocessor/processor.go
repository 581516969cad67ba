// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/processor"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/symbolicate"
)

var opened collector.SharedComponents[Config, *files]

// profilesProcessor is the component of one profiles pipeline. All pipelines of a configuration share the files.
type profilesProcessor struct {
	*collector.SharedComponent[*files]
	next xconsumer.Profiles
}

func newProfilesProcessor(cfg *Config, set processor.Settings, next xconsumer.Profiles) (*profilesProcessor, error) {
	shared, err := opened.Acquire(cfg, func() (*files, error) { return newFiles(&cfg.Store, set.TelemetrySettings) })
	if err != nil {
		return nil, err
	}
	return &profilesProcessor{SharedComponent: shared, next: next}, nil
}

var _ component.Component = (*profilesProcessor)(nil)

// Capabilities returns that profiles are changed in place.
func (p *profilesProcessor) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

// ConsumeProfiles writes the names that are known now, and forwards the profiles.
func (p *profilesProcessor) ConsumeProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	p.Shared.telemetry.countFrames(ctx, symbolicate.Profiles(profiles, p.Shared))
	return p.next.ConsumeProfiles(ctx, profiles)
}
