// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/xprocessor"
)

var componentType = component.MustNewType("symbolicate")

// stability is the stability of all signals.
const stability = component.StabilityLevelDevelopment

// NewFactory returns the factory of the processor.
func NewFactory() xprocessor.Factory {
	return xprocessor.NewFactory(componentType, createDefaultConfig, xprocessor.WithProfiles(createProfiles, stability))
}

func createProfiles(_ context.Context, set processor.Settings, cfg component.Config, next xconsumer.Profiles) (xprocessor.Profiles, error) {
	return newProfilesProcessor(cfg.(*Config), set, next)
}
