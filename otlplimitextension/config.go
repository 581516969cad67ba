// SPDX-License-Identifier: Apache-2.0

package otlplimitextension

import (
	"fmt"

	"go.opentelemetry.io/collector/component"
)

// Config is the configuration of the extension.
type Config struct {
	// MaxBytesInFlight is the maximum memory of all requests together, and therefore of a message.
	MaxBytesInFlight int64 `mapstructure:"max_bytes_in_flight"`
}

const (
	// defaultMaxBytesInFlight is enough for any usual message of 4 MiB, which needs up to 48 MiB.
	// Garbage that is not collected yet needs as much again, which fits into 1 GiB with the store
	// of the viewer and a receiver for Sentry SDKs.
	defaultMaxBytesInFlight = 128 << 20

	// minBytesInFlight is enough for a few small requests.
	minBytesInFlight = 4 * receivingBytes
)

func createDefaultConfig() component.Config {
	return &Config{MaxBytesInFlight: defaultMaxBytesInFlight}
}

// Validate checks the configuration.
func (cfg *Config) Validate() error {
	if cfg.MaxBytesInFlight < minBytesInFlight {
		return fmt.Errorf("max_bytes_in_flight: is %d, must be at least %d, e.g. %d", cfg.MaxBytesInFlight, minBytesInFlight, defaultMaxBytesInFlight)
	}
	return nil
}
