package sentryreceiver

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
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap"
)

// receivers holds the receivers by their configuration: the collector creates one component per signal and gives all of one
// id the same *Config.
var (
	receiversMu sync.Mutex
	receivers   = map[*Config]*sentryReceiver{}
)

// sentryReceiver is the one listener behind the components of all signals.
type sentryReceiver struct {
	cfg       *Config
	projects  *projects
	settings  component.TelemetrySettings
	logger    *zap.Logger
	telemetry *telemetry
	obsreport *receiverhelper.ObsReport
	inflight  *inflight
	resent    *resent

	// The pipelines, set before Start; nil for signals that no pipeline takes from this receiver.
	nextProfiles xconsumer.Profiles
	nextTraces   consumer.Traces
	nextLogs     consumer.Logs
	nextMetrics  consumer.Metrics

	lifecycle sync.Mutex // held by start and stop
	server    *http.Server
	listener  net.Listener
	serving   sync.WaitGroup
	handling  sync.WaitGroup // requests
	stopping  atomic.Bool    // new requests are turned away
	closed    atomic.Bool    // nothing is handed on any more
}

// acquire gives the receiver of a configuration, up to the first Shutdown of a component made from it.
func acquire(cfg *Config, set receiver.Settings) (*sentryReceiver, error) {
	receiversMu.Lock()
	defer receiversMu.Unlock()
	r := receivers[cfg]
	if r == nil {
		var err error
		if r, err = newSentryReceiver(cfg, set); err != nil {
			return nil, err
		}
		receivers[cfg] = r
	}
	return r, nil
}

// forget makes acquire give a fresh receiver. There is no counting of references, as in other shared components: one that
// has been stopped for one signal is of no use to the others.
func (r *sentryReceiver) forget() {
	receiversMu.Lock()
	defer receiversMu.Unlock()
	if receivers[r.cfg] == r {
		delete(receivers, r.cfg)
	}
}

func newSentryReceiver(cfg *Config, set receiver.Settings) (*sentryReceiver, error) {
	telemetry, err := newTelemetry(set.TelemetrySettings)
	if err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	obsreport, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{
		ReceiverID: set.ID, Transport: transport, ReceiverCreateSettings: set,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot register the metrics of receivers: %w", err)
	}
	return &sentryReceiver{
		cfg:       cfg,
		projects:  newProjects(cfg.Projects),
		settings:  set.TelemetrySettings,
		logger:    limitLogs(set.Logger),
		telemetry: telemetry,
		obsreport: obsreport,
		inflight:  &inflight{limit: cfg.MaxBytesInFlight},
		resent:    newResent(cfg.DropResent),
	}, nil
}

// claim is what a request holds of the bytes in flight: none yet.
func (r *sentryReceiver) claim(ctx context.Context) *claim {
	counted := func(delta int64) { r.telemetry.bytesInFlight.Add(ctx, delta) }
	return &claim{room: r.inflight, ctx: ctx, counted: counted}
}

// signalReceiver is the component of one signal.
type signalReceiver struct{ shared *sentryReceiver }

// Start opens the listener, if the component of another signal has not.
func (s *signalReceiver) Start(ctx context.Context, host component.Host) error {
	return s.shared.start(ctx, host)
}

// Shutdown of the first signal closes the listener for all: from then on some of what it takes would have nowhere to go.
func (s *signalReceiver) Shutdown(ctx context.Context) error {
	s.shared.forget()
	return s.shared.stop(ctx)
}

func (r *sentryReceiver) start(ctx context.Context, host component.Host) error {
	r.lifecycle.Lock()
	defer r.lifecycle.Unlock()
	if r.stopping.Load() {
		return errors.New("the receiver has been shut down")
	}
	if r.server != nil {
		return nil
	}
	config := r.serverConfig()
	server, err := config.ToServer(ctx, host.GetExtensions(), r.settings, r, append(leaveEncoded(config.CompressionAlgorithms),
		confighttp.WithErrorHandler(r.refuseForConfighttp))...)
	if err != nil {
		return fmt.Errorf("cannot set up the HTTP server: %w", err)
	}
	server.Handler = normaliseEncoding(server.Handler)
	if !restrictsOrigins(config) {
		server.Handler = openToBrowsers(server.Handler, config.ResponseHeaders)
	}
	listener, err := config.ToListener(ctx)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", config.NetAddr.Endpoint, err)
	}

	r.server, r.listener = server, listener
	r.logger.Info("Listening for Sentry SDKs", zap.Stringer("address", listener.Addr()))
	if r.projects == nil && reachableFromOutside(listener.Addr()) {
		r.logger.Warn("Any DSN is accepted, from other machines too: list the projects that may send under projects")
	}
	r.serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
		}
	})
	return nil
}

func reachableFromOutside(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback()
}

// serverConfig completes what the user says about the server. It is a copy: ToServer changes what it is given.
func (r *sentryReceiver) serverConfig() *confighttp.ServerConfig {
	config := r.cfg.HTTP
	if !restrictsOrigins(&config) {
		return &config
	}
	// Only the origins are the user's business; without the rest, SDKs of the allowed ones would not work either.
	cors := config.CORS.Get()
	if len(cors.AllowedHeaders) == 0 {
		cors.AllowedHeaders = corsRequestHeaders
	}
	if len(cors.ExposedHeaders) == 0 {
		cors.ExposedHeaders = corsExposedHeaders
	}
	if cors.MaxAge == 0 {
		cors.MaxAge = corsMaxAge
	}
	return &config
}

// stopGrace is how long running requests may take to finish. The collector gives Shutdown a context without an end, and a
// client that never completes its body would keep the process alive.
const stopGrace = 5 * time.Second

// waitForHandlers gives requests that are inside a consumer as much time again: it may not be called after Shutdown.
func (r *sentryReceiver) waitForHandlers() {
	done := make(chan struct{})
	go func() {
		r.handling.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(stopGrace):
		r.logger.Error("A pipeline still holds a request", zap.Duration("grace", stopGrace))
	}
}

// stop turns away new requests and lets running ones finish, for a while.
func (r *sentryReceiver) stop(ctx context.Context) error {
	r.stopping.Store(true)
	r.lifecycle.Lock()
	defer r.lifecycle.Unlock()
	if r.server == nil {
		return nil // never started
	}
	ctx, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	err := r.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		r.logger.Warn("Requests cut off by the shutdown: they did not finish in time", zap.Duration("grace", stopGrace))
		err = r.server.Close()
		r.closed.Store(true)
		r.waitForHandlers()
	} else if err != nil {
		err = errors.Join(err, r.server.Close())
	}
	r.serving.Wait()
	return err
}
