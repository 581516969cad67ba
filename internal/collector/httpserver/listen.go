// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"go.opentelemetry.io/collector/config/confighttp"
	"go.uber.org/zap"
)

// Listen opens the listener of a server. key is the setting that has its address, for the error.
func Listen(ctx context.Context, config *confighttp.ServerConfig, key string) (net.Listener, error) {
	listener, err := config.ToListener(ctx)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("cannot listen on %s: another process uses the port; stop it, or set %q to another address: %w", config.NetAddr.Endpoint, key, err)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s, the value of %q: %w", config.NetAddr.Endpoint, key, err)
	}
	return listener, nil
}

// WarnIfOpen logs a warning if other machines can reach a listener and nothing guards it. The
// warning says what they can do, and which setting prevents it.
func WarnIfOpen(logger *zap.Logger, address net.Addr, guarded bool, warning string) {
	if tcp, ok := address.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && !guarded {
		logger.Warn(warning)
	}
}

// LocalAddress returns the address of a listener for users of this machine.
func LocalAddress(address net.Addr) string {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return address.String() // a unix socket
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsLoopback() || ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
