// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

var componentType = component.MustNewType("measure")

// stability is the stability level of all signals.
const stability = component.StabilityLevelDevelopment

// NewFactory returns the factory of the receiver.
func NewFactory() receiver.Factory {
	return xreceiver.NewFactory(componentType, createDefaultConfig,
		xreceiver.WithProfiles(createProfiles, stability),
		xreceiver.WithTraces(createTraces, stability),
		xreceiver.WithLogs(createLogs, stability),
		xreceiver.WithMetrics(createMetrics, stability))
}

func createProfiles(_ context.Context, set receiver.Settings, cfg component.Config, next xconsumer.Profiles) (xreceiver.Profiles, error) {
	return acquire(cfg.(*Config), set, func(r *measureReceiver) { r.pipelines.Profiles = next })
}

func createTraces(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Traces) (receiver.Traces, error) {
	return acquire(cfg.(*Config), set, func(r *measureReceiver) { r.pipelines.Traces = next })
}

func createLogs(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Logs) (receiver.Logs, error) {
	return acquire(cfg.(*Config), set, func(r *measureReceiver) { r.pipelines.Logs = next })
}

func createMetrics(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Metrics) (receiver.Metrics, error) {
	return acquire(cfg.(*Config), set, func(r *measureReceiver) { r.pipelines.Metrics = next })
}
