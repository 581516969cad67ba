// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stubConn is a connection from an address.
type stubConn struct {
	net.Conn
	from   *net.TCPAddr
	closed bool
}

func (c *stubConn) RemoteAddr() net.Addr { return c.from }
func (c *stubConn) Close() error         { c.closed = true; return nil }

func from(address string) *stubConn {
	return &stubConn{from: &net.TCPAddr{IP: net.ParseIP(address), Port: 1}}
}

// limited returns connections with limits, and the number of closed connections by reason.
func limited(limits Limits) (*connections, map[string]int) {
	reasons := map[string]int{}
	return newConnections(&limits, func(reason string) { reasons[reason]++ }), reasons
}

// accept adds active connections of an address and returns those within the limits.
func accept(c *connections, address string, n int) (stayed []*stubConn) {
	for range n {
		conn := from(address)
		if c.add(conn) {
			c.changed(conn, http.StateActive)
			stayed = append(stayed, conn)
		}
	}
	return stayed
}

func TestConnectionsPerPeer(t *testing.T) {
	c, reasons := limited(Limits{Max: 100, MaxPerPeer: 3, TrustedProxies: []string{"10.0.0.0/8", "192.0.2.1"}})
	for address, stay := range map[string]int{
		"203.0.113.1": 3, "203.0.113.2": 3, "10.1.2.3": 5, "192.0.2.1": 5, "192.0.2.2": 3, "2001:db8::1": 3, "::ffff:10.0.0.1": 5,
	} {
		assert.Len(t, accept(c, address, 5), stay, address)
	}
	assert.Empty(t, accept(c, "2001:db8::2", 1), "the same /64")
	assert.Len(t, accept(c, "2001:db8:0:1::2", 1), 1)
	assert.Equal(t, map[string]int{ReasonMaxConnectionsPerPeer: 2*4 + 1}, reasons)
}

// TestIdleConnectionsAreReplaced: a peer at its limit loses its oldest idle connection; none is
// rejected.
func TestIdleConnectionsAreReplaced(t *testing.T) {
	c, reasons := limited(Limits{Max: 4, MaxPerPeer: 3})
	mine, other := accept(c, "203.0.113.1", 3), accept(c, "203.0.113.2", 1)
	c.changed(mine[1], http.StateIdle)
	c.changed(mine[0], http.StateIdle)
	require.Len(t, accept(c, "203.0.113.1", 1), 1)
	assert.True(t, mine[1].closed, "idle for the longest time")
	assert.False(t, mine[0].closed)
	require.Len(t, accept(c, "203.0.113.3", 1), 1, "all are in use")
	assert.True(t, mine[0].closed)
	assert.False(t, mine[2].closed || other[0].closed)
	assert.Empty(t, reasons, "nothing is lost")
	c.changed(mine[0], http.StateClosed) // as reported by the server
	assert.Equal(t, 4, c.all.Len())
}

// TestAllConnectionsInUse: if all connections are in use, the peer with the most loses its oldest,
// also if it is a proxy.
func TestAllConnectionsInUse(t *testing.T) {
	c, reasons := limited(Limits{Max: 6, MaxPerPeer: 3, TrustedProxies: []string{"10.0.0.0/8"}})
	flood := accept(c, "10.0.0.1", 9)
	require.Len(t, flood, 6)
	assert.Len(t, accept(c, "10.0.0.2", 9), 3, "an equal share")
	assert.True(t, flood[0].closed && flood[1].closed && flood[2].closed)
	assert.False(t, flood[3].closed)
	assert.Equal(t, map[string]int{ReasonMaxConnections: 3 + 9}, reasons)
	for _, conn := range flood {
		c.changed(conn, http.StateClosed)
	}
	assert.Equal(t, 3, c.all.Len())
	assert.Len(t, accept(c, "203.0.113.1", 3), 3)
}

// TestStreamsCount: concurrent requests on an HTTP/2 connection count as connections, from the
// second.
func TestStreamsCount(t *testing.T) {
	c, reasons := limited(Limits{Max: 8, MaxPerPeer: 4, TrustedProxies: []string{"10.0.0.0/8"}})
	conn := accept(c, "203.0.113.1", 1)[0]
	for n := 1; n <= 4; n++ {
		assert.True(t, c.begin(conn))
		assert.EqualValues(t, n, c.all.Use(Peer(conn.from)))
	}
	assert.False(t, c.begin(conn))
	assert.Empty(t, accept(c, "203.0.113.1", 1))
	assert.Equal(t, map[string]int{ReasonMaxConnectionsPerPeer: 2}, reasons)
	c.end(conn)
	require.Len(t, accept(c, "203.0.113.1", 1), 1)

	proxy := accept(c, "10.0.0.1", 1)[0]
	for range 4 {
		assert.True(t, c.begin(proxy))
	}
	assert.False(t, c.begin(proxy), "all are in use")
	other := accept(c, "203.0.113.2", 1)
	require.Len(t, other, 1, "for another address")
	assert.True(t, conn.closed != proxy.closed, "one of those with the most")
	c.changed(conn, http.StateClosed)
	c.changed(proxy, http.StateClosed)
	c.end(proxy)
	assert.False(t, c.begin(proxy))
	assert.Equal(t, 2, c.all.Len())
}

// TestEveryConnectionIsRemoved: connections are removed in every state.
func TestEveryConnectionIsRemoved(t *testing.T) {
	c, _ := limited(Limits{Max: 10, MaxPerPeer: 10})
	conns := accept(c, "203.0.113.1", 5)
	c.changed(conns[0], http.StateIdle)
	c.changed(conns[1], http.StateIdle)
	c.changed(conns[1], http.StateIdle)
	c.changed(conns[1], http.StateActive)
	c.changed(conns[2], http.StateHijacked)
	for _, conn := range conns {
		c.changed(conn, http.StateClosed)
	}
	assert.Zero(t, c.all.Len()+c.idle.Len()+len(c.open))
}

// TestConnectionsOfAServer tests the limit with real connections.
func TestConnectionsOfAServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	limits, closed := Limits{Max: 1, MaxPerPeer: 1}, make(chan string, 1000)
	arrived, goOn := make(chan struct{}), make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-goOn
	})}
	limited := limits.apply(server, listener, func(reason string) { closed <- reason })
	go func() { _ = server.Serve(limited) }()
	defer server.Close()
	get := func() error {
		client := http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		response, err := client.Get("http://" + listener.Addr().String())
		if err == nil {
			response.Body.Close()
		}
		return err
	}
	first := make(chan error)
	go func() { first <- get() }()
	<-arrived
	assert.Error(t, get())
	assert.Equal(t, ReasonMaxConnectionsPerPeer, <-closed)
	goOn <- struct{}{}
	require.NoError(t, <-first)
	go func() { <-arrived; goOn <- struct{}{} }()
	require.Eventually(t, func() bool { return get() == nil }, 30*time.Second, time.Millisecond, "the first is gone or idle")
}

func TestLimitsValidate(t *testing.T) {
	good := DefaultLimits()
	require.NoError(t, good.Validate())
	bad := Limits{Max: 0, MaxPerPeer: -1, MinBodyRate: -1, TrustedProxies: []string{"10.0.0.0/8", "::1", "proxy.local"}}
	err := bad.Validate()
	problems := []string{"max: is 0,", "max_per_peer: is -1,", "min_body_rate: is -1,", `trusted_proxies: "proxy.local"`}
	for _, problem := range problems {
		assert.ErrorContains(t, err, problem)
	}
	assert.Len(t, strings.Split(err.Error(), "\n"), len(problems), "no others")
}
