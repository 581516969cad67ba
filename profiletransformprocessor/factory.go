// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/xprocessor"
)

var componentType = component.MustNewType("profile_transform")

// stability is the stability level of all signals.
const stability = component.StabilityLevelDevelopment

// NewFactory returns the factory of the processor.
func NewFactory() processor.Factory {
	return xprocessor.NewFactory(componentType, createDefaultConfig,
		xprocessor.WithProfiles(createProfiles, stability),
		xprocessor.WithTraces(createTraces, stability))
}

func createProfiles(_ context.Context, set processor.Settings, cfg component.Config, next xconsumer.Profiles) (xprocessor.Profiles, error) {
	return newProfilesProcessor(cfg.(*Config), set, next)
}

func createTraces(_ context.Context, set processor.Settings, cfg component.Config, next consumer.Traces) (processor.Traces, error) {
	return newTracesProcessor(cfg.(*Config), set, next)
}
