// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
)

// Limits limit the resources of a server that its clients use: connections, headers, and the
// duration of bodies.
type Limits struct {
	// Max is the maximum number of connections, and of concurrent requests on HTTP/2 connections.
	// Further ones replace idle connections, if there are any.
	Max int `mapstructure:"max"`

	// MaxPerPeer is the maximum number of these from one address (IPv6: one /64), except from
	// trusted proxies.
	MaxPerPeer int `mapstructure:"max_per_peer"`

	// TrustedProxies are addresses and networks of proxies, which open connections for many
	// clients.
	TrustedProxies []string `mapstructure:"trusted_proxies"`

	// MinBodyRate is the minimum average rate of a body in bytes per second; 0: limited by
	// read_timeout only.
	MinBodyRate int64 `mapstructure:"min_body_rate"`
}

const (
	// defaultMax limits the memory of idle connections to 160 MiB, or 320 MiB with TLS: 20 or 40
	// KiB each. SDKs keep a connection for a minute, so this is enough for some thousand hosts, or
	// for any number behind a proxy.
	defaultMax = 8192

	// defaultMaxPerPeer is in effect the number of concurrent requests of an address, because new
	// connections replace idle ones. Offices and mobile carriers with one address need far fewer.
	// An attacker needs sixteen addresses to use all connections.
	defaultMaxPerPeer = 512

	// defaultMinBodyRate is a quarter of the rate of GPRS, the slowest mobile network.
	defaultMinBodyRate = 1 << 10

	// maxHeaderBytes is enough for SDKs, whose headers have up to 2 kB, and for the cookies that a
	// tunnel on the host of a site receives. The default of net/http is a megabyte.
	maxHeaderBytes = 64 << 10

	// maxStreams is the maximum number of concurrent requests on an HTTP/2 connection: the minimum
	// that RFC 9113 (6.5.2) recommends.
	maxStreams = 100

	// maxStreamBuffer is the memory of an HTTP/2 connection for bytes that no handler has read yet:
	// the initial window of RFC 9113 (6.9.2), which net/http raises to a megabyte otherwise.
	maxStreamBuffer = 1<<16 - 1
)

// privateNetworks are the loopback addresses and the private networks: RFC 1918, RFC 4193, RFC 6598
// (pods of some clouds), and link-local addresses. Proxies and load balancers in front of a
// collector have such addresses; clients from the internet do not. Your own applications that send
// directly are exempt as well. If all connections are in use, the address with the most loses one.
var privateNetworks = []string{
	"127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "fc00::/7", "fe80::/10",
}

// DefaultLimits returns limits for a server with or without a proxy in front of it.
func DefaultLimits() Limits {
	return Limits{
		Max: defaultMax, MaxPerPeer: defaultMaxPerPeer, MinBodyRate: defaultMinBodyRate,
		TrustedProxies: append([]string(nil), privateNetworks...),
	}
}

// Validate checks the limits. Its messages name the key and a valid value.
func (l *Limits) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if l.Max < 1 {
		problem("max: is %d, must be at least 1, e.g. %d", l.Max, defaultMax)
	}
	if l.MaxPerPeer < 1 {
		problem("max_per_peer: is %d, must be at least 1, e.g. %d", l.MaxPerPeer, defaultMaxPerPeer)
	}
	if l.MinBodyRate < 0 {
		problem("min_body_rate: is %d, must be a number of bytes per second, or 0 for no minimum, e.g. %d", l.MinBodyRate, defaultMinBodyRate)
	}
	for _, text := range l.TrustedProxies {
		if _, err := parseNetwork(text); err != nil {
			problem("trusted_proxies: %q is not an address or network; use e.g. 10.0.0.0/8", text)
		}
	}
	return errors.Join(problems...)
}

func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

// Reasons why a connection is closed.
const (
	ReasonMaxConnections        = "max_connections"
	ReasonMaxConnectionsPerPeer = "max_connections_per_peer"
)

// apply sets the limits of a server and returns its listener. closed is called for each connection
// that is closed because of a limit.
func (l *Limits) apply(server *http.Server, listener net.Listener, closed func(reason string)) net.Listener {
	server.MaxHeaderBytes = maxHeaderBytes
	server.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: maxStreamBuffer, MaxReceiveBufferPerStream: maxStreamBuffer,
	}
	if l.MinBodyRate > 0 {
		server.Handler = minBodyRate{next: server.Handler, rate: l.MinBodyRate, readTimeout: server.ReadTimeout}
	}
	c := newConnections(l, closed)
	server.Handler = countStreams(server.Handler, c)
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, conn)
	}
	server.ConnState = c.changed
	return limitedListener{Listener: listener, connections: c}
}

type connKey struct{}

// countStreams closes streams of HTTP/2 beyond the limits, as a listener closes connections, and
// rejects requests of HTTP/1 with two lengths.
func countStreams(next http.Handler, c *connections) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		conn, _ := req.Context().Value(connKey{}).(net.Conn)
		switch {
		case req.ProtoMajor == 1 && twoLengths(w, req, conn):
			http.Error(w, "the request has both Transfer-Encoding and Content-Length", http.StatusBadRequest)
			return
		case req.ProtoMajor != 1:
			if !c.begin(conn) {
				panic(http.ErrAbortHandler) // resets the stream
			}
			defer c.end(conn)
		}
		next.ServeHTTP(w, req)
	})
}
