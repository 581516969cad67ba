// SPDX-License-Identifier: Apache-2.0

// Package loopguard ends loops of collectors: an exporter that sends to the receiver of its own
// collector would send each item forever.
//
//   - Each process has a random ID. Exporters add it to the IDs in the header of their requests, and
//     a receiver refuses requests in which its own ID occurs too often.
//   - Data from other receivers, such as otlp, and chains of receivers in one process are no loops:
//     the ID may occur as often as the process has receivers of this kind.
//   - A receiver passes the IDs of a request to its exporters in the client metadata, so that a ring of
//     several collectors ends, too. Processors that merge messages of several clients, such as batch
//     without metadata_keys, lose them.
//   - Chains of different collectors work, up to maxHops of them.
//   - The header is not secret and grants nothing: a client that adds an ID only has its own
//     requests refused.
package loopguard

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/client"
)

// Header contains the IDs of the collectors that forwarded the data, oldest first.
const Header = "X-Otelcol-Sentry-Via"

// MetadataKey is the key of the same value in the client metadata.
const MetadataKey = "otelcol.sentry.via"

// maxHops bounds a chain, and the header. It also ends rings in which a proxy or another program
// changes the IDs, but not their number.
const maxHops = 16

// Guard is the guard of a process.
type Guard struct {
	id string

	mu        sync.Mutex
	receivers int
	targets   map[*string]struct{} // addresses to which exporters send
}

// Shared is the guard of this process.
var Shared = New()

// New returns a guard with an ID of its own.
func New() *Guard {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return &Guard{id: hex.EncodeToString(id[:]), targets: map[*string]struct{}{}}
}

// AddReceiver states that the process has another receiver, until it calls withdraw.
func (g *Guard) AddReceiver() (withdraw func()) {
	g.countReceivers(1)
	return func() { g.countReceivers(-1) }
}

func (g *Guard) countReceivers(change int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.receivers += change
}

// passes returns how often data may leave this process for one of its receivers.
func (g *Guard) passes() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(1, g.receivers)
}

// Receive returns the IDs in a request. It reports whether the request must be refused, because
// each receiver of this process, or too many others, have forwarded the data.
func (g *Guard) Receive(header http.Header) (via string, loop bool) {
	values := header.Values(Header)
	if len(values) == 0 {
		return "", false
	}
	via = strings.Join(values, ",")
	ids := strings.Split(via, ",")
	own := 0
	for _, id := range ids {
		if id == g.id {
			own++
		}
	}
	return via, len(ids) >= maxHops || own > g.passes()
}

// Send returns the header for data that has come with these IDs.
func (g *Guard) Send(via string) string {
	if via == "" {
		return g.id
	}
	return via + "," + g.id
}

// Via returns the IDs that came with the data of a context.
func Via(ctx context.Context) string {
	if values := client.FromContext(ctx).Metadata.Get(MetadataKey); len(values) == 1 {
		return values[0]
	}
	return ""
}

// AddTarget states that an exporter sends to an address, host:port, until it calls withdraw.
func (g *Guard) AddTarget(address string) (withdraw func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := &address
	g.targets[key] = struct{}{}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.targets, key)
	}
}

// IsTarget reports whether an exporter of this process sends to a listener. It does not resolve
// names: the requests themselves are refused in any case.
func (g *Guard) IsTarget(listener net.Addr) bool {
	listens, err := netip.ParseAddrPort(listener.String())
	if err != nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for target := range g.targets {
		host, port, err := net.SplitHostPort(*target)
		if err == nil && port == strconv.Itoa(int(listens.Port())) && isLocal(host, listens.Addr()) {
			return true
		}
	}
	return false
}

// isLocal reports whether a host is the address of a listener.
func isLocal(host string, listens netip.Addr) bool {
	address, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return host == "localhost" && (listens.IsLoopback() || listens.IsUnspecified())
	case address == listens.Unmap():
		return true
	case !listens.IsUnspecified():
		return false
	case address.IsLoopback():
		return true
	}
	own, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(own, func(own net.Addr) bool { n, ok := own.(*net.IPNet); return ok && n.IP.String() == address.String() })
}
