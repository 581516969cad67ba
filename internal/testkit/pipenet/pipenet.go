// SPDX-License-Identifier: Apache-2.0

// Package pipenet connects HTTP clients and servers by pipes instead of sockets. Tests with both of
// them in a bubble of testing/synctest do not wait for timeouts: the clock of a bubble advances
// while all wait, but a socket that is read counts as work.
package pipenet

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Listener accepts the connections of DialContext.
type Listener struct {
	dialed chan net.Conn
	closed chan struct{}
	close  func()
}

// Listen returns a new listener.
func Listen() *Listener {
	l := &Listener{dialed: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// DialContext connects to the listener, whatever the address. It has the type of
// [http.Transport.DialContext].
func (l *Listener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.dialed <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Transport returns a transport whose connections all go to the listener.
func (l *Listener) Transport() *http.Transport {
	return &http.Transport{DialContext: l.DialContext, DisableCompression: true}
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.dialed:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *Listener) Close() error { l.close(); return nil }

// Addr implements [net.Listener].
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }
