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

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/pipenet"
)

// StartInMemory is Start with connections in memory, by which Dial reaches the server. The clock of
// a bubble (testing/synctest) does not advance while a goroutine waits for a socket, but it does
// while one waits for such a connection.
func StartInMemory(t testing.TB) *Server {
	l, address := &memoryListener{Listener: pipenet.Listen()}, fmt.Sprintf("127.0.0.1:%d", inMemory.Add(1))
	s := &Server{url: "http://" + address}
	var running sync.WaitGroup // as httptest.Server: no handler outlives the test
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Done()
		s.serve(w, r)
	})}
	listeners.Store(address, l)
	running.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		listeners.Delete(address)
		_ = server.Close()
		running.Wait()
	})
	return s
}

var (
	// inMemory is the number of servers in memory, and the port of the last one. The system never
	// assigns such low ports.
	inMemory  atomic.Int64
	listeners sync.Map // of the servers in memory, by address
)

// Dial is a DialContext for http.Transport. It connects to the servers in memory, and to all other
// addresses as usual.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	found, ok := listeners.Load(address)
	if !ok {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return found.(*memoryListener).DialContext(ctx, network, address)
}

// memoryListener numbers its connections.
type memoryListener struct {
	*pipenet.Listener
	connections atomic.Int64
}

func (l *memoryListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return memoryConn{conn, memoryAddress(fmt.Sprintf("memory:%d", l.connections.Add(1)))}, nil
}

// memoryConn has its own remote address: see Request.Client.
type memoryConn struct {
	net.Conn
	remote memoryAddress
}

func (c memoryConn) RemoteAddr() net.Addr { return c.remote }

type memoryAddress string

func (memoryAddress) Network() string  { return "memory" }
func (a memoryAddress) String() string { return string(a) }
