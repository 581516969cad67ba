package profiletransformprocessor

import (
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
)

// Config is the configuration of the processor.
type Config struct {
	// Transforms says how profiles are reshaped, after linking.
	Transforms TransformsConfig `mapstructure:",squash"`
}

var _ confmap.Validator = (*Config)(nil)

func createDefaultConfig() component.Config {
	return &Config{}
}

// Validate checks the configuration; its messages name the key and what to write instead.
func (c *Config) Validate() error {
	return c.Transforms.validate()
}
