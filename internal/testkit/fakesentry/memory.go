// SPDX-License-Identifier: Apache-2.0

package fakesentry

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// StartInMemory is Start with connections in memory, by which Dial reaches the server. The clock of
// a bubble (testing/synctest) does not advance while a goroutine waits for a socket, but it does
// while one waits for such a connection.
func StartInMemory(t testing.TB) *Server {
	l := &memoryListener{address: memoryAddress(fmt.Sprintf("127.0.0.1:%d", inMemory.Add(1))), accept: make(chan net.Conn), closed: make(chan struct{})}
	s := &Server{url: "http://" + string(l.address)}
	var running sync.WaitGroup // as httptest.Server: no handler outlives the test
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Done()
		s.serve(w, r)
	})}
	listeners.Store(string(l.address), l)
	running.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		listeners.Delete(string(l.address))
		_ = server.Close()
		running.Wait()
	})
	return s
}

var (
	inMemory  atomic.Int64 // number of servers in memory, and the last one's port: ports from 1 are never free ones of the system
	listeners sync.Map     // of the servers in memory, by address
)

// Dial is a DialContext for http.Transport. It connects to the servers in memory, and to all other
// addresses as usual.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	found, ok := listeners.Load(address)
	if !ok {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	l := found.(*memoryListener)
	client, server := net.Pipe()
	number := l.connections.Add(1)
	select {
	case l.accept <- memoryConn{server, memoryAddress(fmt.Sprintf("memory:%d", number))}:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// memoryListener is a net.Listener of connections in memory.
type memoryListener struct {
	address     memoryAddress
	connections atomic.Int64
	accept      chan net.Conn
	once        sync.Once
	closed      chan struct{}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accept:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *memoryListener) Addr() net.Addr { return l.address }

// memoryConn has its own remote address: see Request.Client.
type memoryConn struct {
	net.Conn
	remote memoryAddress
}

func (c memoryConn) RemoteAddr() net.Addr { return c.remote }

type memoryAddress string

func (memoryAddress) Network() string  { return "memory" }
func (a memoryAddress) String() string { return string(a) }
