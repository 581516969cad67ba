// SPDX-License-Identifier: Apache-2.0

// Package httpserver is the life of a component's HTTP server: it serves once, and a shutdown lets running requests finish but
// waits for none for ever.
package httpserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"
)

// Server is an HTTP server on one listener. Its user sees to it that Serve, Stop and Shutdown do not run at the same time.
type Server struct {
	Listener net.Listener   // nil before Serve
	Handling sync.WaitGroup // requests, as far as the handler enters them
	Stopping atomic.Bool    // new requests are to be turned away
	Closed   atomic.Bool    // nothing may be handed on any more: the consumers may be gone

	server  *http.Server
	serving sync.WaitGroup
}

// Serve begins to serve, within limits. closed hears of connections that are closed for them, by reason, and the host of an end that
// nobody has asked for.
func (s *Server) Serve(server *http.Server, listener net.Listener, limits Limits, closed func(reason string), host component.Host) {
	listener = limits.apply(server, listener, closed)
	s.server, s.Listener = server, listener
	s.serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
}

// stopGrace is how long running requests may take to finish. The collector gives Shutdown a context without an end, and a
// client that never completes its body would keep the process alive.
const stopGrace = 5 * time.Second

// Stop turns away new requests and lets running ones finish, for a while, or until the context ends. The error says so where
// requests are still running when it returns.
func (s *Server) Stop(ctx context.Context, logger *zap.Logger) error {
	s.Stopping.Store(true)
	finished, err := s.Shutdown(ctx, stopGrace)
	if !finished {
		logger.Warn("Requests cut off by the shutdown: they did not finish in time", zap.Duration("grace", stopGrace))
		s.Closed.Store(true)
		err = errors.Join(err, s.waitForHandlers(ctx))
	}
	return err
}

// Shutdown closes the listener, and after the grace, or the end of the context, also the connections of requests that have not
// finished.
func (s *Server) Shutdown(ctx context.Context, grace time.Duration) (finished bool, err error) {
	if s.server == nil {
		return true, nil // never started
	}
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	defer s.serving.Wait()
	switch err := s.server.Shutdown(ctx); {
	case err != nil && ctx.Err() != nil:
		return false, s.server.Close()
	case err != nil:
		return true, errors.Join(err, s.server.Close())
	}
	return true, nil
}

// errStillRunning is the error of a Stop that does not wait for the end of all requests.
var errStillRunning = errors.New("requests are still running")

// waitForHandlers gives requests that are inside a consumer as much time again: it may not be called after Shutdown.
func (s *Server) waitForHandlers(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		s.Handling.Wait()
		close(done)
	}()
	ctx, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errStillRunning, ctx.Err())
	}
}
