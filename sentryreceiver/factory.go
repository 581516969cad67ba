package sentryreceiver

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

var componentType = component.MustNewType("sentry")

const profilesStability = component.StabilityLevelDevelopment

// NewFactory creates the factory of the receiver.
func NewFactory() xreceiver.Factory {
	return xreceiver.NewFactory(componentType, createDefaultConfig,
		xreceiver.WithProfiles(createProfiles, profilesStability))
}

func createProfiles(_ context.Context, set receiver.Settings, cfg component.Config, next xconsumer.Profiles) (xreceiver.Profiles, error) {
	shared, err := acquire(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	shared.nextProfiles = next
	return &signalReceiver{shared: shared}, nil
}
