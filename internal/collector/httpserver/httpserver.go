// SPDX-License-Identifier: Apache-2.0

// Package httpserver runs the HTTP server of a component within limits. A shutdown waits for
// running requests for a limited time.
package httpserver

import (
	"cmp"
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

// Server is the HTTP server of a component, on one or more listeners. Its caller must not call
// Serve, Stop and Shutdown concurrently.
type Server struct {
	Listener net.Listener   // the last one; nil before Serve
	Handling sync.WaitGroup // requests that the handler has added
	Stopping atomic.Bool    // the handler must reject new requests
	Closed   atomic.Bool    // no data may be forwarded: the consumers may have been shut down
	Grace    time.Duration  // for running requests in Stop; 0 means stopGrace

	servers []*http.Server // one per listener
	serving sync.WaitGroup
}

// Serve starts to serve a listener. closed is called for each connection that is closed because of
// a limit. If the server fails, Serve reports this to the host.
func (s *Server) Serve(server *http.Server, listener net.Listener, limits Limits, closed func(reason string), host component.Host) {
	listener = limits.apply(server, listener, closed)
	s.servers, s.Listener = append(s.servers, server), listener
	s.serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
}

// stopGrace is the time that running requests have to finish. The collector calls Shutdown with a
// context without a deadline, and a client that never completes its body would keep the process
// running.
const stopGrace = 5 * time.Second

// Stop rejects new requests and waits for running ones, until the grace period or the context ends.
// The error states whether requests are still running.
func (s *Server) Stop(ctx context.Context, logger *zap.Logger) error {
	s.Stopping.Store(true)
	grace := cmp.Or(s.Grace, stopGrace)
	finished, err := s.Shutdown(ctx, grace)
	if !finished {
		logger.Warn("Closed connections of requests that did not finish before the shutdown", zap.Duration("grace", grace))
		s.Closed.Store(true)
		err = errors.Join(err, s.waitForHandlers(ctx, grace))
	}
	return err
}

// Shutdown closes the listeners and, after the grace period or the end of the context, the
// connections of unfinished requests.
func (s *Server) Shutdown(ctx context.Context, grace time.Duration) (finished bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	defer s.serving.Wait()
	finished = true
	for _, server := range s.servers {
		switch stopped := server.Shutdown(ctx); {
		case stopped != nil && ctx.Err() != nil:
			finished = false
			err = errors.Join(err, server.Close())
		case stopped != nil:
			err = errors.Join(err, stopped, server.Close())
		}
	}
	return finished, err
}

// errStillRunning is the error of Stop if requests are still running.
var errStillRunning = errors.New("requests are still running")

// waitForHandlers waits for another grace period for requests inside a consumer, which must not be
// called after Shutdown.
func (s *Server) waitForHandlers(ctx context.Context, grace time.Duration) error {
	done := make(chan struct{})
	go func() {
		s.Handling.Wait()
		close(done)
	}()
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errStillRunning, ctx.Err())
	}
}
