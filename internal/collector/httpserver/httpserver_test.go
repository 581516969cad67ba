// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.uber.org/zap"
)

// serve starts a server whose handler counts its requests, as the receivers do.
func serve(t *testing.T, handler http.HandlerFunc) (*Server, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &Server{}
	s.Serve(&http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s.Handling.Add(1)
		defer s.Handling.Done()
		handler(w, req)
	})}, listener, DefaultLimits(), func(string) {}, componenttest.NewNopHost())
	return s, "http://" + listener.Addr().String()
}

// TestStopWithoutTime: with a canceled context, Stop reports running requests.
func TestStopWithoutTime(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	arrived, goOn := make(chan struct{}), make(chan struct{})
	s, url := serve(t, func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-goOn
	})
	go func() { _, _ = http.Get(url) }()
	<-arrived
	err := s.Stop(over, zap.NewNop())
	assert.ErrorIs(t, err, errStillRunning)
	assert.ErrorIs(t, err, context.Canceled)
	assert.True(t, s.Closed.Load(), "no data may reach a consumer")
	close(goOn)
	s.Handling.Wait()

	idle, _ := serve(t, nil)
	assert.NoError(t, idle.Stop(over, zap.NewNop()), "nothing was running")
}

// TestStopClosesStalledRequests: a client that never completes its body does not make Stop fail,
// because a collector that reloads its configuration ends if it does.
func TestStopClosesStalledRequests(t *testing.T) {
	arrived, ended := make(chan struct{}), false
	s, url := serve(t, func(_ http.ResponseWriter, req *http.Request) {
		close(arrived)
		_, err := io.Copy(io.Discard, req.Body)
		ended = err != nil
	})
	client, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer client.Close()
	_, err = io.WriteString(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
	require.NoError(t, err)
	<-arrived
	s.Grace = 10 * time.Millisecond
	require.NoError(t, s.Stop(t.Context(), zap.NewNop()))
	assert.True(t, ended)
}
