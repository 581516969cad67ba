package sentryexporter

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/loglimit"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// sentryExporter is the exporter of one signal.
type sentryExporter struct {
	*destination
	cfg       *Config
	settings  exporter.Settings
	logger    *zap.Logger
	telemetry *telemetry
	client    *client // since start
}

// destination is what the exporters of both signals know of the project they send to.
type destination struct {
	profiled atomic.Bool // a pipeline sends profiles there
	clocks   clocks      // of the profiles that were sent there
	limits   limits
	losses   losses
}

func newSentryExporter(cfg *Config, set exporter.Settings) (*sentryExporter, error) {
	telemetry, err := newTelemetry(set.TelemetrySettings)
	if err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	return &sentryExporter{
		destination: cfg.destination, cfg: cfg, settings: set, logger: loglimit.Wrap(set.Logger), telemetry: telemetry,
	}, nil
}

func (e *sentryExporter) start(ctx context.Context, host component.Host) error {
	dsn, err := sentry.ParseDSN(string(e.cfg.DSN))
	if err != nil {
		return fmt.Errorf("dsn: %w", err)
	}
	http, err := e.cfg.HTTP.ToClient(ctx, host.GetExtensions(), e.settings.TelemetrySettings)
	if err != nil {
		return fmt.Errorf("cannot set up the HTTP client: %w", err)
	}
	program := e.program()
	e.client = newClient(http, dsn, program.Name+"/"+program.Version)
	return nil
}

// shutdown tells Sentry the last losses.
func (e *sentryExporter) shutdown(ctx context.Context) error {
	if e.client == nil {
		return nil // never started
	}
	e.reportLosses(ctx, true)
	e.client.http.CloseIdleConnections()
	return nil
}

// unreadable counts a request that the queue's storage gave back damaged.
func (e *sentryExporter) unreadable(err error) {
	e.telemetry.unreadable.Add(context.Background(), 1)
	e.logger.Error("A request in the queue's storage is lost", zap.Error(err))
}

// push sends the envelopes of a request, and gives back those that are to be sent later as an *unsent.
func (e *sentryExporter) push(ctx context.Context, req xexporterhelper.Request) error {
	r := req.(*request)
	d := delivery{sentryExporter: e, left: &request{Count: r.Count}}
	for i := range r.Envelopes {
		d.send(ctx, &r.Envelopes[i])
	}
	if !d.down {
		e.reportLosses(ctx, false)
	}
	return d.result(len(r.Envelopes))
}

// delivery is the work on one request.
type delivery struct {
	*sentryExporter
	left    *request
	wait    time.Duration // until the first of those that are left may be sent
	down    bool          // Sentry does not answer: it is left alone for now
	refused int
	err     error // the last
}

// send sends one envelope, or leaves it for later.
func (d *delivery) send(ctx context.Context, e *envelope) {
	if wait, category := d.limitOf(e); wait > 0 {
		d.telemetry.throttledBy(ctx, category)
		d.leave(e, wait, fmt.Errorf("rate limit of Sentry on %s", named(category)))
		return
	}
	if d.down {
		d.leave(e, 0, d.err)
		return
	}
	r := d.client.post(ctx, e)
	if r.status != 0 {
		d.limits.learn(r.status, r.header, time.Now())
	}
	d.telemetry.posted(ctx, e, r)
	switch r.verdict {
	case sent:
	case refused:
		d.refused++
		d.err = r.err
		d.losses.add(e, r)
		d.logger.Warn("Envelope refused by Sentry, dropped", zap.String("type", string(e.Item.Header.Type)),
			zap.String("reason", r.reason), zap.Error(r.err))
	case limited:
		wait, _ := d.limitOf(e) // by what Sentry has just said
		d.leave(e, max(wait, time.Second), r.err)
	case failed:
		d.down = true
		d.leave(e, r.pause(time.Now()), r.err)
	}
}

// limitOf is how long the envelope has to wait by what Sentry has said until now, and for which category.
func (d *delivery) limitOf(e *envelope) (time.Duration, sentry.Category) {
	return d.limits.of(sentry.LimitedBy(&e.Item.Header), time.Now())
}

// leave keeps an envelope for later.
func (d *delivery) leave(e *envelope, wait time.Duration, err error) {
	if len(d.left.Envelopes) == 0 || wait < d.wait {
		d.wait = wait
	}
	d.left.Envelopes = append(d.left.Envelopes, *e)
	d.err = err
}

// result is what the queue is told of a request of so many envelopes.
func (d *delivery) result(envelopes int) error {
	switch {
	case len(d.left.Envelopes) > 0:
		err := error(&unsent{left: d.left, err: d.err})
		if d.wait > 0 {
			err = exporterhelper.NewThrottleRetry(err, d.wait)
		}
		return err
	case d.refused > 0:
		return consumererror.NewPermanent(fmt.Errorf("%d of %d envelopes dropped, the last one %w", d.refused, envelopes, d.err))
	}
	return nil
}

func named(category sentry.Category) string {
	if category == everything {
		return "everything"
	}
	return string(category)
}
