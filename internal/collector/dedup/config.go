// SPDX-License-Identifier: Apache-2.0

package dedup

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
)

// Config is the "dedup" section of a receiver.
type Config struct {
	// MaxIDs is the number of IDs to remember, the latest accepted ones; 0 turns deduplication off.
	// An ID takes about 320 bytes.
	MaxIDs int `mapstructure:"max_ids"`

	// MaxAge is how long an ID is remembered.
	MaxAge time.Duration `mapstructure:"max_age"`

	// Storage is the extension that keeps the IDs across restarts; nil = they are in memory only.
	Storage *component.ID `mapstructure:"storage"`
}

// Enabled reports whether any ID is remembered.
func (c *Config) Enabled() bool { return c.MaxIDs > 0 }

// maxIDs IDs take about 3 GB.
const maxIDs = 10_000_000

// Validate checks the section; its messages name the key and the fix.
func (c *Config) Validate() error {
	var problems []error
	if c.MaxIDs < 0 || c.MaxIDs > maxIDs {
		problems = append(problems, fmt.Errorf("max_ids: is %d, must be from 0 (off) to %d, e.g. 100000", c.MaxIDs, maxIDs))
	}
	if c.MaxAge <= 0 {
		problems = append(problems, fmt.Errorf("max_age: is %s, must be positive, e.g. 24h", c.MaxAge))
	}
	return errors.Join(problems...)
}
