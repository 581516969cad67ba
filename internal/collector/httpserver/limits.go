// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
)

// Limits bound what the clients of a server may hold of it: connections, headers, and the time that bodies take.
type Limits struct {
	// Max is how many connections there may be. The next one takes the place of an idle one, if there is any.
	Max int `mapstructure:"max"`

	// MaxPerPeer is how many of them may be from one address (IPv6: one /64), which is not a trusted proxy.
	MaxPerPeer int `mapstructure:"max_per_peer"`

	// TrustedProxies are addresses and networks with the connections of many clients.
	TrustedProxies []string `mapstructure:"trusted_proxies"`

	// MinBodyRate is how fast a body has to come, in bytes per second on average; 0 = as slowly as read_timeout allows.
	MinBodyRate int64 `mapstructure:"min_body_rate"`
}

const (
	// defaultMax: a connection takes 20 KiB while it waits, with TLS about twice that: 160 or 320 MiB in all. SDKs keep one open for a
	// minute, so this is for some thousand hosts, or for any number behind a proxy.
	defaultMax = 8192

	// defaultMaxPerPeer: idle connections make room for new ones, so this is how many requests one address may have at a time. An
	// office, or a mobile carrier behind one address, is far below it; sixteen addresses are needed to take all connections.
	defaultMaxPerPeer = 512

	// defaultMinBodyRate: GPRS, the slowest that phones fall back to, has about 4 kB/s.
	defaultMinBodyRate = 1 << 10

	// maxHeaderBytes: the longest recorded headers of an SDK have 2 kB. A tunnel on a site's own host name gets its cookies, of which
	// browsers send some kilobytes; net/http allows a megabyte.
	maxHeaderBytes = 64 << 10

	// maxStreams is how many requests one connection of HTTP/2 may carry at a time: the least that RFC 9113 (6.5.2) recommends.
	maxStreams = 100
)

// privateNetworks are the machine itself, and the networks of one's own: RFC 1918, RFC 4193, RFC 6598 (pods of some clouds), and
// link-local addresses. A proxy or load balancer in front of a collector has such an address; clients from the internet have none.
// Where applications of one's own send directly, each has its own address, and none has a reason to be kept below a limit that is
// for strangers; when all connections are in use, the address with the most of them makes room.
var privateNetworks = []string{
	"127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "fc00::/7", "fe80::/10",
}

// DefaultLimits returns limits for a server behind a proxy, or in front of which there is nothing.
func DefaultLimits() Limits {
	return Limits{
		Max: defaultMax, MaxPerPeer: defaultMaxPerPeer, MinBodyRate: defaultMinBodyRate,
		TrustedProxies: append([]string(nil), privateNetworks...),
	}
}

// Validate checks the limits; its messages name the key and what to write instead.
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
		problem("min_body_rate: is %d, must be a number of bytes per second, or 0 for none, e.g. %d", l.MinBodyRate, defaultMinBodyRate)
	}
	for _, text := range l.TrustedProxies {
		if _, err := parseNetwork(text); err != nil {
			problem("trusted_proxies: %q is no address or network, give e.g. 10.0.0.0/8", text)
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

// Reasons for which a connection is closed before its requests are answered.
const (
	ReasonMaxConnections        = "max_connections"
	ReasonMaxConnectionsPerPeer = "max_connections_per_peer"
)

// apply sets the limits up on a server, and returns the listener for it. closed hears of the connections that are closed, by reason.
func (l *Limits) apply(server *http.Server, listener net.Listener, closed func(reason string)) net.Listener {
	server.MaxHeaderBytes = maxHeaderBytes
	server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
	if l.MinBodyRate > 0 {
		server.Handler = pacedBodies{server.Handler, l.MinBodyRate, server.ReadTimeout}
	}
	c := newConnections(l, closed)
	server.ConnState = c.changed
	return limitedListener{listener, c}
}
