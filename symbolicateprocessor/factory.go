// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/xprocessor"
)

var componentType = component.MustNewType("symbolicate")

// stability is the stability of all signals.
const stability = component.StabilityLevelDevelopment

// NewFactory returns the factory of the processor.
func NewFactory() processor.Factory {
	return xprocessor.NewFactory(componentType, createDefaultConfig,
		xprocessor.WithProfiles(createProfiles, stability), xprocessor.WithLogs(createLogs, stability), xprocessor.WithTraces(createTraces, stability))
}

func createProfiles(_ context.Context, set processor.Settings, cfg component.Config, next xconsumer.Profiles) (xprocessor.Profiles, error) {
	p, err := newPipeline(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return &profilesProcessor{p, next}, nil
}

func createLogs(_ context.Context, set processor.Settings, cfg component.Config, next consumer.Logs) (processor.Logs, error) {
	p, err := newPipeline(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return &logsProcessor{p, next}, nil
}

func createTraces(_ context.Context, set processor.Settings, cfg component.Config, next consumer.Traces) (processor.Traces, error) {
	p, err := newPipeline(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return &tracesProcessor{p, next}, nil
}
