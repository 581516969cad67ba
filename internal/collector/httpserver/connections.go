// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
)

// connections holds the connections of a server. Each concurrent request of an HTTP/2 connection
// counts as a connection.
type connections struct {
	max, maxPerPeer int
	trusted         Proxies
	closed          func(reason string)

	mu   sync.Mutex
	open map[net.Conn]*connection
	all  peers
	idle peers // without a request
}

// peers holds connections by peer, in the order in which they were opened or became idle.
type peers = fairshare.Queue[netip.Addr, *connection]

type connection struct {
	net.Conn
	requests int                                         // of HTTP/2
	all      []*fairshare.Entry[netip.Addr, *connection] // one, or as many as requests
	idle     *fairshare.Entry[netip.Addr, *connection]   // nil: it has a request
}

func newConnections(l *Limits, closed func(reason string)) *connections {
	return &connections{max: l.Max, maxPerPeer: l.MaxPerPeer, trusted: l.Proxies(), closed: closed, open: map[net.Conn]*connection{}}
}

// limitedListener closes connections beyond the limits before they use memory.
type limitedListener struct {
	net.Listener
	connections *connections
}

// Accept returns the next connection within the limits.
func (l limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if conn = keepHeads(conn); l.connections.add(conn) {
			return conn, nil
		}
		_ = conn.Close()
	}
}

// add reports whether a new connection is within the limits.
func (c *connections) add(conn net.Conn) bool {
	peer := Peer(conn.RemoteAddr())
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.admits(peer) {
		return false
	}
	added := &connection{Conn: conn}
	added.all, added.idle = append(added.all, c.all.Push(peer, added, 1)), c.idle.Push(peer, added, 1)
	c.open[conn] = added
	return true
}

// begin reports whether a request of an HTTP/2 connection is within the limits. If so, end must
// follow.
func (c *connections) begin(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.open[conn]
	if known == nil {
		return false // closed by us
	}
	if known.requests == len(known.all) {
		peer := known.all[0].Tenant()
		if !c.admits(peer) {
			return false
		}
		known.all = append(known.all, c.all.Push(peer, known, 1))
	}
	known.requests++
	return true
}

// end ends a request of an HTTP/2 connection.
func (c *connections) end(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.open[conn]
	if known == nil {
		return
	}
	known.requests--
	if last := len(known.all) - 1; last > 0 {
		c.all.Remove(known.all[last])
		known.all = known.all[:last]
	}
}

// admits reports whether one more connection or request of a peer is within the limits. It may
// close another connection for it: an idle one, or else one of the peer with the most, unless this
// is the peer itself.
func (c *connections) admits(peer netip.Addr) bool {
	if c.all.Use(peer) >= int64(c.maxPerPeer) && !c.trusted.trusts(peer) {
		if c.closeIdle(c.idle.OldestOf(peer)); c.all.Use(peer) >= int64(c.maxPerPeer) {
			c.closed(ReasonMaxConnectionsPerPeer)
			return false
		}
	}
	if c.all.Len() >= c.max {
		c.closeIdle(c.idle.LargestOldest())
	}
	if c.all.Len() >= c.max {
		c.closed(ReasonMaxConnections)
		largest := c.all.LargestOldest()
		if c.all.Use(largest.Tenant()) <= c.all.Use(peer)+1 {
			return false
		}
		c.close(largest.Value)
	}
	return true
}

func (c *connections) closeIdle(e *fairshare.Entry[netip.Addr, *connection]) {
	if e != nil {
		c.close(e.Value)
	}
}

func (c *connections) close(victim *connection) {
	c.remove(victim)
	conn := victim.Conn
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn() // without close_notify, which may block
	}
	_ = conn.Close()
}

func (c *connections) remove(gone *connection) {
	delete(c.open, gone.Conn)
	for _, entry := range gone.all {
		c.all.Remove(entry)
	}
	if gone.idle != nil {
		c.idle.Remove(gone.idle)
	}
}

// changed is the ConnState of the server.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.open[conn]
	if known == nil {
		return // closed by us
	}
	switch state {
	case http.StateActive:
		if known.idle != nil {
			c.idle.Remove(known.idle)
			known.idle = nil
		}
	case http.StateIdle:
		if known.idle == nil {
			known.idle = c.idle.Push(known.all[0].Tenant(), known, 1)
		}
	case http.StateClosed, http.StateHijacked:
		c.remove(known)
	}
}

// Peer returns the address of a peer; for IPv6 its network, because a client has a whole network.
func Peer(address net.Addr) netip.Addr {
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	peer := tcp.AddrPort().Addr().Unmap().WithZone("")
	if peer.Is6() && !peer.IsLoopback() {
		if network, err := peer.Prefix(64); err == nil {
			return network.Addr()
		}
	}
	return peer
}
