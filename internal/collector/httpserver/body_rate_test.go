// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pipeListener accepts one end of a pipe; the client has the other.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	conn, ok := <-l
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l pipeListener) Close() error   { close(l); return nil }
func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{} }

// TestBodyRate: the rate of a body matters, not its duration. The clock is that of synctest.
func TestBodyRate(t *testing.T) {
	const size = 1 << 20
	for name, test := range map[string]struct {
		readTimeout time.Duration
		send        func(io.Writer)
		status      int
		after       time.Duration
	}{
		"nothing": {0, func(io.Writer) {}, 408, bodyGrace},
		"byte by byte": {0, func(w io.Writer) {
			for {
				time.Sleep(time.Second)
				if _, err := w.Write([]byte("a")); err != nil {
					return
				}
			}
		}, 408, bodyGrace},
		"four times as fast as needed": {0, func(w io.Writer) {
			for range size / 4096 {
				time.Sleep(time.Second)
				_, _ = w.Write(make([]byte, 4096))
			}
		}, 200, size / 4096 * time.Second},
		"half, and then no more": {0, func(w io.Writer) { _, _ = w.Write(make([]byte, size/2)) }, 408, bodyGrace},
		"paused": {0, func(w io.Writer) {
			_, _ = w.Write(make([]byte, size/2))
			time.Sleep(bodyGrace - 2*time.Second)
			_, _ = w.Write(make([]byte, size/2))
		}, 200, bodyGrace - 2*time.Second},
		"longer than read_timeout": {10 * time.Second, func(io.Writer) {}, 408, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limits, took, begin := DefaultLimits(), time.Duration(0), time.Now()
				server := &http.Server{ReadTimeout: test.readTimeout, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					n, err := io.Copy(io.Discard, req.Body)
					took = time.Since(begin)
					switch {
					case errors.Is(err, os.ErrDeadlineExceeded):
						w.WriteHeader(http.StatusRequestTimeout)
						return
					case assert.NoError(t, err):
						assert.EqualValues(t, size, n)
					}
					if test.readTimeout == 0 {
						time.Sleep(time.Hour)
						assert.NoError(t, req.Context().Err(), "the body is all there: the handler may take its time")
					}
				})}
				listener := make(pipeListener)
				served := make(chan error, 1)
				limited := limits.apply(server, listener, func(string) {})
				go func() { served <- server.Serve(limited) }()
				client, conn := net.Pipe()
				listener <- conn
				var sending sync.WaitGroup
				defer sending.Wait()
				sending.Go(func() {
					fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
					test.send(client)
				})
				response, err := http.ReadResponse(bufio.NewReader(client), nil)
				require.NoError(t, err)
				assert.Equal(t, test.status, response.StatusCode)
				assert.InDelta(t, test.after.Seconds(), took.Seconds(), 2)
				client.Close()
				require.NoError(t, server.Close())
				<-served
			})
		})
	}
}

// TestHeaderBytes: the limit of headers is far below that of net/http.
func TestHeaderBytes(t *testing.T) {
	_, url := serve(t, func(http.ResponseWriter, *http.Request) {})
	for size, status := range map[int]int{maxHeaderBytes - 1000: 200, maxHeaderBytes + 8<<10: 431} {
		req, err := http.NewRequest(http.MethodGet, url, nil)
		require.NoError(t, err)
		req.Header.Set("X", string(bytes.Repeat([]byte("x"), size)))
		response, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		response.Body.Close()
		assert.Equal(t, status, response.StatusCode)
	}
}
