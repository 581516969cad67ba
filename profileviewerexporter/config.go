// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/confmap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
)

// Config is the configuration of the exporter. The settings of the HTTP server stand beside its own keys.
type Config struct {
	// HTTP is a named field, not an embedded one, which would promote the methods of ServerConfig.
	HTTP confighttp.ServerConfig `mapstructure:",squash"`

	// MaxBytes is how much is kept, in bytes of memory; the oldest goes first.
	MaxBytes int64 `mapstructure:"max_bytes"`

	// MaxAge is how long something is kept.
	MaxAge time.Duration `mapstructure:"max_age"`

	// AllowedHosts are names under which the page may be opened, beside localhost, addresses and the host of Endpoint.
	AllowedHosts []string `mapstructure:"allowed_hosts"`
}

var (
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

const (
	// defaultEndpoint: on the local host only. 4319 is the Sentry receiver, 4320 what OpAMP uses.
	defaultEndpoint = "localhost:4321"

	// defaultMaxBytes: an hour of a service under continuous profiling (a minute of node under load is 1.5 MB of OTLP), and
	// little beside what a collector takes anyway.
	defaultMaxBytes = 128 << 20

	// minMaxBytes: the largest profile of our recordings is 2 MB.
	minMaxBytes = 1 << 20

	// defaultMaxAge: what somebody looks for that long after it happened is in a backend.
	defaultMaxAge = time.Hour
)

func createDefaultConfig() component.Config {
	server := confighttp.NewDefaultServerConfig()
	server.NetAddr.Endpoint = defaultEndpoint
	return &Config{HTTP: server, MaxBytes: defaultMaxBytes, MaxAge: defaultMaxAge}
}

// Unmarshal reads the configuration; unknown keys fail.
func (c *Config) Unmarshal(conf *confmap.Conf) error { return collector.UnmarshalConfig(conf, c) }

// Validate checks the configuration; its messages name the key and what to write instead.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if c.HTTP.NetAddr.Endpoint == "" {
		problem("endpoint: must not be empty, give host:port, e.g. %s", defaultEndpoint)
	}
	if c.MaxBytes < minMaxBytes {
		problem("max_bytes: is %d, must be at least %d, e.g. %d", c.MaxBytes, minMaxBytes, defaultMaxBytes)
	}
	if c.MaxAge < time.Second {
		problem("max_age: is %s, must be at least 1s, e.g. %s", c.MaxAge, defaultMaxAge)
	}
	// Without it, a response stays in memory for as long as nobody reads it.
	if c.HTTP.WriteTimeout <= 0 {
		problem("write_timeout: is %s, must be positive, e.g. 30s", c.HTTP.WriteTimeout)
	}
	for _, host := range c.AllowedHosts {
		if host == "" || strings.ContainsAny(host, ":/* ") {
			problem("allowed_hosts: %q is no host name, give it without scheme and port, e.g. %q", host, "profiles.example.com")
		}
	}
	return errors.Join(problems...)
}
