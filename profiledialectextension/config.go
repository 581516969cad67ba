// SPDX-License-Identifier: Apache-2.0

package profiledialectextension

import (
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
)

// Config is the configuration of the extension. It applies to exporters: a receiver translates
// every older version to the current one.
type Config struct {
	// Dialect is the version of OTLP that an exporter sends: "v1_9", "v1_10" or "v1_11".
	Dialect string `mapstructure:"dialect"`

	// InlineAttributes replaces references to the dictionary in the attributes of resources and
	// scopes by their strings. OTLP 1.9 has no such references: they are always replaced.
	InlineAttributes bool `mapstructure:"inline_attributes"`
}

var dialects = map[string]dialect.Version{"v1_9": dialect.V1_9, "v1_10": dialect.V1_10, "v1_11": dialect.V1_10}

func createDefaultConfig() component.Config { return &Config{Dialect: "v1_11"} }

// Unmarshal reads the configuration and rejects unknown keys.
func (cfg *Config) Unmarshal(conf *confmap.Conf) error { return collector.UnmarshalConfig(conf, cfg) }

// Validate checks the configuration.
func (cfg *Config) Validate() error {
	if _, ok := dialects[cfg.Dialect]; !ok {
		return fmt.Errorf(`dialect: %q is unknown; use "v1_9", "v1_10" or "v1_11"`, cfg.Dialect)
	}
	return nil
}
