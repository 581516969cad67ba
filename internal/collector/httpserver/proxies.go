// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of trusted proxies.
type Proxies []netip.Prefix

// Proxies returns the trusted proxies.
func (l *Limits) Proxies() (trusted Proxies) {
	for _, text := range l.TrustedProxies {
		if network, err := parseNetwork(text); err == nil { // Validate has checked them
			trusted = append(trusted, network)
		}
	}
	return trusted
}

// trusts reports whether a peer is a trusted proxy. A peer without an address uses a Unix socket of
// this machine and is trusted.
func (p Proxies) trusts(peer netip.Addr) bool {
	return !peer.IsValid() || slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(peer) })
}

// unreadHeaders are headers other than X-Forwarded-For by which a proxy shows that the peer is not
// the client.
var unreadHeaders = []string{"Forwarded", "X-Real-Ip", "Cf-Connecting-Ip", "True-Client-Ip", "Via"}

// ClientAddress returns the address of the client that sent a request, "" if it is not known. Each
// proxy appends its peer to X-Forwarded-For, so the client is the last address that is not that of
// a trusted proxy: anybody can write those before it.
func (p Proxies) ClientAddress(req *http.Request) string {
	var client netip.Addr
	if peer, err := netip.ParseAddrPort(req.RemoteAddr); err == nil { // a Unix socket has none
		client = peer.Addr().Unmap().WithZone("")
	}
	if p.trusts(client) {
		forwarded := strings.Split(strings.Join(req.Header.Values("X-Forwarded-For"), ","), ",")
		if len(forwarded) == 1 && forwarded[0] == "" {
			forwarded = nil
			if slices.ContainsFunc(unreadHeaders, func(name string) bool { return req.Header.Get(name) != "" }) {
				return ""
			}
		}
		for i := len(forwarded) - 1; i >= 0 && p.trusts(client); i-- {
			next, err := netip.ParseAddr(strings.TrimSpace(forwarded[i]))
			if err != nil {
				return ""
			}
			client = next.Unmap().WithZone("")
		}
	}
	if !client.IsValid() {
		return ""
	}
	return client.String()
}
