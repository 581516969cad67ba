package sentryreceiver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/receiver"
)

// receivers holds the running receivers by their configuration: the collector creates one component per signal and gives
// all of one id the same *Config.
var (
	receiversMu sync.Mutex
	receivers   = map[*Config]*sentryReceiver{}
)

// acquire gives the receiver of a configuration. Every component made from it lets go of it in its Shutdown.
func acquire(cfg *Config, set receiver.Settings) (*sentryReceiver, error) {
	receiversMu.Lock()
	defer receiversMu.Unlock()
	r := receivers[cfg]
	if r == nil {
		r = &sentryReceiver{cfg: cfg, set: set}
		receivers[cfg] = r
	}
	r.refs++
	return r, nil
}

// sentryReceiver is the one listener behind the components of all signals.
type sentryReceiver struct {
	cfg  *Config
	set  receiver.Settings
	refs int // guarded by receiversMu

	nextProfiles xconsumer.Profiles // set before Start

	start    sync.Once
	startErr error
	server   *http.Server
	listener net.Listener
	serving  sync.WaitGroup
}

// signalReceiver is the component of one signal.
type signalReceiver struct {
	shared *sentryReceiver
	once   sync.Once
}

func (r *sentryReceiver) handle() *signalReceiver { return &signalReceiver{shared: r} }

func (s *signalReceiver) Start(ctx context.Context, host component.Host) error {
	s.shared.start.Do(func() { s.shared.startErr = s.shared.listen(ctx, host) })
	return s.shared.startErr
}

// Shutdown of the first signal stops the listener: from then on some of what it accepts would have nowhere to go.
func (s *signalReceiver) Shutdown(ctx context.Context) error {
	var err error
	s.once.Do(func() {
		err = s.shared.stop(ctx)
		receiversMu.Lock()
		defer receiversMu.Unlock()
		if s.shared.refs--; s.shared.refs == 0 {
			delete(receivers, s.shared.cfg)
		}
	})
	return err
}

func (r *sentryReceiver) listen(ctx context.Context, host component.Host) error {
	var err error
	config := r.cfg.HTTP
	if r.server, err = config.ToServer(ctx, host.GetExtensions(), r.set.TelemetrySettings, http.NotFoundHandler()); err != nil {
		return fmt.Errorf("cannot set up the HTTP server: %w", err)
	}
	if r.listener, err = config.ToListener(ctx); err != nil {
		return fmt.Errorf("cannot listen on %s: %w", config.NetAddr.Endpoint, err)
	}
	r.serving.Go(func() {
		if err := r.server.Serve(r.listener); !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	return nil
}

func (r *sentryReceiver) stop(ctx context.Context) error {
	if r.server == nil {
		return nil
	}
	err := r.server.Shutdown(ctx)
	r.serving.Wait()
	return err
}
