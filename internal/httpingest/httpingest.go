// Package httpingest is what receivers that are an HTTP server have in common: one listener behind the components of all
// signals, a shutdown that lets running requests finish but waits for none for ever, and logs that a wrong client cannot flood.
package httpingest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Registry holds receivers by their configuration: the collector creates one component per signal and gives all of one id the
// same *Config.
type Registry[C, R any] struct {
	mu  sync.Mutex
	all map[*C]*R
}

// Acquire gives the receiver of a configuration, made by make if there is none.
func (g *Registry[C, R]) Acquire(cfg *C, make func() (*R, error)) (*R, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.all[cfg]; r != nil {
		return r, nil
	}
	r, err := make()
	if err != nil {
		return nil, err
	}
	if g.all == nil {
		g.all = map[*C]*R{}
	}
	g.all[cfg] = r
	return r, nil
}

// Forget makes Acquire give a fresh receiver: one that has been stopped for one signal is of no use to the others.
func (g *Registry[C, R]) Forget(cfg *C, r *R) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all[cfg] == r {
		delete(g.all, cfg)
	}
}

// Listener serves one HTTP server, once.
type Listener struct {
	server   *http.Server
	listener net.Listener
	serving  sync.WaitGroup
	handling sync.WaitGroup
	stopping atomic.Bool
	closed   atomic.Bool
}

// Serve begins to serve. failed hears of an end that Stop has not asked for.
func (l *Listener) Serve(server *http.Server, listener net.Listener, failed func(error)) {
	l.server, l.listener = server, listener
	l.serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	})
}

// Addr is where the server listens; nil before Serve.
func (l *Listener) Addr() net.Addr {
	if l.listener == nil {
		return nil
	}
	return l.listener.Addr()
}

// Enter and Leave go around the handling of each request.
func (l *Listener) Enter() { l.handling.Add(1) }
func (l *Listener) Leave() { l.handling.Done() }

// Stopping says that new requests are to be turned away.
func (l *Listener) Stopping() bool { return l.stopping.Load() }

// Closed says that nothing may be handed on any more: the consumers may be gone.
func (l *Listener) Closed() bool { return l.closed.Load() }

// stopGrace is how long running requests may take to finish. The collector gives Shutdown a context without an end, and a
// client that never completes its body would keep the process alive.
const stopGrace = 5 * time.Second

// Stop turns away new requests and lets running ones finish, for a while.
func (l *Listener) Stop(ctx context.Context, logger *zap.Logger) error {
	l.stopping.Store(true)
	if l.server == nil {
		return nil // never started
	}
	ctx, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	err := l.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		logger.Warn("Requests cut off by the shutdown: they did not finish in time", zap.Duration("grace", stopGrace))
		err = l.server.Close()
		l.closed.Store(true)
		l.waitForHandlers(logger)
	} else if err != nil {
		err = errors.Join(err, l.server.Close())
	}
	l.serving.Wait()
	return err
}

// waitForHandlers gives requests that are inside a consumer as much time again: it may not be called after Shutdown.
func (l *Listener) waitForHandlers(logger *zap.Logger) {
	done := make(chan struct{})
	go func() {
		l.handling.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(stopGrace):
		logger.Error("A pipeline still holds a request", zap.Duration("grace", stopGrace))
	}
}

// logsPerMinute of one message: a client that is wrong is wrong in every request, and counters tell how often.
const logsPerMinute = 5

// LimitLogs lets a few of each message pass per minute.
func LimitLogs(logger *zap.Logger) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Minute, logsPerMinute, 0)
	}))
}
