// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"encoding"
	"fmt"
)

// Config is the scrubbing option of a component: default, off, or the settings of a Sentry project.
type Config struct {
	// Data, Defaults and IPAddresses are the three switches of a project. Data includes Defaults.
	Data        bool `mapstructure:"scrub_data"`
	Defaults    bool `mapstructure:"scrub_defaults"`
	IPAddresses bool `mapstructure:"scrub_ip_addresses"`

	// SensitiveFields are additional names whose values are replaced. SafeFields are selectors or
	// names that the default rules skip.
	SensitiveFields []string `mapstructure:"sensitive_fields"`
	SafeFields      []string `mapstructure:"safe_fields"`

	// PIIConfig has the advanced rules of a project, as JSON text or YAML.
	PIIConfig any `mapstructure:"pii_config"`

	// UserPaths replaces user names in paths, including those of frames. SQLLiterals replaces
	// literals in queries. Sentry keeps both.
	UserPaths   bool `mapstructure:"user_paths"`
	SQLLiterals bool `mapstructure:"sql_literals"`
}

var _ encoding.TextUnmarshaler = (*Config)(nil)

const (
	settingDefault = "default"
	settingOff     = "off"
)

// DefaultConfig returns the settings of a new Sentry project.
func DefaultConfig() Config { return Config{Data: true, Defaults: true, IPAddresses: true} }

// UnmarshalText reads the short forms.
func (c *Config) UnmarshalText(text []byte) error {
	switch string(text) {
	case settingDefault:
		*c = DefaultConfig()
	case settingOff, "false": // older YAML parses off as a boolean
		*c = Config{}
	default:
		return fmt.Errorf("is %q, must be %s, %s, or a map of settings, e.g. {sensitive_fields: [iban]}", text, settingDefault, settingOff)
	}
	return nil
}

// Validate checks the settings. Its errors name the key and the fix.
func (c *Config) Validate() error {
	_, err := New(*c)
	return err
}
