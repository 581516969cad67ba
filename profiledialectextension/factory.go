// SPDX-License-Identifier: Apache-2.0

package profiledialectextension

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
)

var componentType = component.MustNewType("profile_dialect")

// NewFactory creates the factory of the extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(componentType, createDefaultConfig, createExtension, component.StabilityLevelDevelopment)
}

func createExtension(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	return newTranslator(cfg.(*Config), set.TelemetrySettings)
}
