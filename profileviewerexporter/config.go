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
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
)

// Config is the configuration of the exporter. It contains the settings of the HTTP server.
type Config struct {
	// HTTP is a named field: an embedded one would promote the methods of ServerConfig.
	HTTP confighttp.ServerConfig `mapstructure:",squash"`

	// MaxBytes is the memory limit of the store; the oldest messages are evicted first.
	MaxBytes int64 `mapstructure:"max_bytes"`

	// MaxAge is the time after which messages are evicted.
	MaxAge time.Duration `mapstructure:"max_age"`

	// Storage is the storage extension in which stored messages survive a restart.
	Storage *component.ID `mapstructure:"storage"`

	// AllowedHosts are the host names that may serve the page, in addition to localhost, IP
	// addresses and the host of Endpoint.
	AllowedHosts []string `mapstructure:"allowed_hosts"`
}

var (
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

const (
	// defaultEndpoint is reachable from this host only. 4319 is the port of the Sentry receiver,
	// 4320 of OpAMP.
	defaultEndpoint = "localhost:4321"

	// defaultMaxBytes is enough for one hour of continuous profiling of a service: one minute of
	// Node.js under load produces 1.5 MB of OTLP.
	defaultMaxBytes = 128 << 20

	// minMaxBytes is about the size of a large profile: the largest one in our recordings is 2 MB.
	minMaxBytes = 1 << 20

	// defaultMaxAge is one hour. Use a backend for older data.
	defaultMaxAge = time.Hour
)

func createDefaultConfig() component.Config {
	server := confighttp.NewDefaultServerConfig()
	server.NetAddr.Endpoint = defaultEndpoint
	server.MaxRequestBodySize = maxImport
	return &Config{HTTP: server, MaxBytes: defaultMaxBytes, MaxAge: defaultMaxAge}
}

// Unmarshal reads the configuration and rejects unknown keys.
func (c *Config) Unmarshal(conf *confmap.Conf) error { return collector.UnmarshalConfig(conf, c) }

// Validate checks the configuration. Its messages name the key and a valid value.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	problems = append(problems, httpserver.Check(&c.HTTP, defaultEndpoint)...)
	if c.MaxBytes < minMaxBytes {
		problem("max_bytes: is %d, must be at least %d, e.g. %d", c.MaxBytes, minMaxBytes, defaultMaxBytes)
	}
	if c.MaxAge < time.Second {
		problem("max_age: is %s, must be at least 1s, e.g. %s", c.MaxAge, defaultMaxAge)
	}
	// Without a timeout, a response stays in memory until its client has read it.
	if c.HTTP.WriteTimeout == 0 {
		problem("write_timeout: is %s, must be positive, e.g. 30s", c.HTTP.WriteTimeout)
	}
	for _, host := range c.AllowedHosts {
		if host == "" || strings.ContainsAny(host, ":/* ") {
			problem("allowed_hosts: %q is not a host name; omit scheme and port, e.g. %q", host, "profiles.example.com")
		}
	}
	return errors.Join(problems...)
}
