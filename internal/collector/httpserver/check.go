// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"fmt"
	"net"
	"strings"
	"time"

	"go.opentelemetry.io/collector/config/confighttp"
)

// Check checks the settings of a server that confighttp accepts, but that do not work. example is
// an address for the errors.
func Check(config *confighttp.ServerConfig, example string) (problems []error) {
	if transport := config.NetAddr.Transport; transport != "unix" && transport != "npipe" {
		if err := CheckAddress(config.NetAddr.Endpoint, example); err != nil {
			problems = append(problems, fmt.Errorf("endpoint: %w", err))
		}
	}
	for _, timeout := range []struct {
		key string
		is  time.Duration
	}{
		{"read_timeout", config.ReadTimeout},
		{"read_header_timeout", config.ReadHeaderTimeout},
		{"write_timeout", config.WriteTimeout},
	} {
		if timeout.is < 0 {
			problems = append(problems, fmt.Errorf("%s: is %s, must not be negative, e.g. 30s", timeout.key, timeout.is))
		}
	}
	return problems
}

// CheckAddress checks the address of a listener.
func CheckAddress(address, example string) error {
	_, port, err := net.SplitHostPort(address)
	switch {
	case address == "":
		return fmt.Errorf("must not be empty; use host:port, e.g. %s", example)
	case strings.Contains(address, "://"):
		return fmt.Errorf("is %q, must be host:port without a scheme, e.g. %s", address, example)
	case err != nil || port == "": // net.Listen would take any free port
		return fmt.Errorf("is %q, must be host:port, e.g. %s", address, example)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("is %q, must have a port from 0 to 65535, e.g. %s", address, example)
	}
	return nil
}
