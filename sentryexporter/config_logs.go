// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"fmt"
	"slices"

	"go.opentelemetry.io/collector/pdata/plog"
)

// LogsConfig is the section "logs".
type LogsConfig struct {
	// MinSeverity is the lowest severity of log records that are sent, one of severities. Errors
	// and other items of Sentry's SDKs, and events from exceptions, are not affected.
	MinSeverity string `mapstructure:"min_severity"`

	_ struct{} // no unkeyed literals, so that a new field breaks nobody
}

// severities are the names of OpenTelemetry's severity ranges. Each has four numbers.
var severities = []string{"trace", "debug", "info", "warn", "error", "fatal"}

func (c *LogsConfig) validate() error {
	if !slices.Contains(severities, c.MinSeverity) {
		return fmt.Errorf("logs::min_severity: is %q, must be one of %q", c.MinSeverity, severities)
	}
	return nil
}

func (c *LogsConfig) minNumber() plog.SeverityNumber {
	return plog.SeverityNumber(1 + 4*slices.Index(severities, c.MinSeverity))
}
