// SPDX-License-Identifier: Apache-2.0

package otlplimitextension

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
)

var componentType = component.MustNewType("otlp_limit")

// NewFactory creates the factory of the extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(componentType, createDefaultConfig, createExtension, component.StabilityLevelDevelopment)
}

func createExtension(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	return newLimiter(cfg.(*Config), set.TelemetrySettings)
}
