// SPDX-License-Identifier: Apache-2.0

package otlplimitextension

import (
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
)

// Config is the configuration of the extension.
type Config struct {
	// MaxBytesInFlight is the maximum memory of all requests in progress. A single message can use
	// all of it except 4 MiB.
	MaxBytesInFlight int64 `mapstructure:"max_bytes_in_flight"`

	_ struct{} // no unkeyed literals, so that a new field breaks nobody
}

const (
	// defaultMaxBytesInFlight is enough for a typical message of 4 MiB, which needs up to 48 MiB.
	// Garbage that is not collected yet needs as much again. Together with the viewer's store and a
	// receiver for Sentry SDKs, this fits into 1 GiB.
	defaultMaxBytesInFlight = 128 << 20

	// minBytesInFlight is enough for a few small requests.
	minBytesInFlight = 4 * receivingBytes
)

func createDefaultConfig() component.Config {
	return &Config{MaxBytesInFlight: defaultMaxBytesInFlight}
}

// Unmarshal reads the configuration and rejects unknown keys.
func (cfg *Config) Unmarshal(conf *confmap.Conf) error { return collector.UnmarshalConfig(conf, cfg) }

// Validate checks the configuration.
func (cfg *Config) Validate() error {
	if cfg.MaxBytesInFlight < minBytesInFlight {
		return fmt.Errorf("max_bytes_in_flight: is %d, must be at least %d, e.g. %d", cfg.MaxBytesInFlight, minBytesInFlight, defaultMaxBytesInFlight)
	}
	return nil
}
