// SPDX-License-Identifier: Apache-2.0

package spotlight

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpserver"
)

// Config is the section "spotlight" of the receiver.
type Config struct {
	// Endpoint is the address that SDKs with Spotlight send to; "": none. SDKs send to port 8969 of
	// the local host unless told otherwise.
	Endpoint string `mapstructure:"endpoint"`

	// AllowedOrigins are the origins of pages that may send and listen, besides those on the local
	// host.
	AllowedOrigins []string `mapstructure:"allowed_origins"`
}

// Enabled reports whether the receiver has an endpoint for Spotlight.
func (c *Config) Enabled() bool { return c.Endpoint != "" }

const exampleEndpoint = "localhost:8969"

// Validate checks the section; its messages name the key and the fix.
func (c *Config) Validate() error {
	var problems []error
	if c.Enabled() {
		if err := httpserver.CheckAddress(c.Endpoint, exampleEndpoint); err != nil {
			problems = append(problems, fmt.Errorf("endpoint: %w", err))
		}
	}
	for _, origin := range c.AllowedOrigins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || strings.Contains(u.Host, "*") {
			problems = append(problems, fmt.Errorf("allowed_origins: %q is not an origin; use e.g. http://shop.test:3000", origin))
		}
	}
	return errors.Join(problems...)
}

// allowsOrigin reports whether pages of an origin may send and listen.
func (c *Config) allowsOrigin(origin string) bool {
	if slices.ContainsFunc(c.AllowedOrigins, func(allowed string) bool { return strings.EqualFold(allowed, origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && isLocal(u.Hostname())
}

// allowsHost reports whether a Host header names this receiver. Names can be rebound to this
// address by DNS, addresses cannot.
func (c *Config) allowsHost(hostport string) bool {
	host := hostname(hostport)
	return isLocal(host) || net.ParseIP(host) != nil || strings.EqualFold(host, hostname(c.Endpoint)) ||
		!isLocal(hostname(c.Endpoint)) // other machines use names that we do not know: containers, for instance
}

func isLocal(host string) bool {
	host = strings.ToLower(host)
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

func hostname(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return strings.Trim(host, "[]")
}
