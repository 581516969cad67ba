// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/health"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpclient"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/loopguard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// sentryExporter is the exporter of one signal to one project.
type sentryExporter struct {
	*destination
	dsn        sentry.DSN
	project    string // name of the project
	isDefault  bool   // the project is that of the key dsn
	cfg        *Config
	settings   exporter.Settings
	logger     *zap.Logger
	telemetry  *telemetry
	queues     []*categoryQueue // by category: see queueOf
	selected   func(metric string) bool
	rejections *atomic.Int64 // number of the signal's exporters with rejected

	// Set by Start.
	client   *client
	host     component.Host
	rejected atomic.Bool   // Sentry rejected the key in its last response
	stopping chan struct{} // closed by Shutdown

	interrupted atomic.Int64 // requests that stayed in the storage at Shutdown
	withdraw    func()       // of the loop guard
}

func newSentryExporter(r *router, cfg *Config, set exporter.Settings, dsn sentry.DSN) (*sentryExporter, error) {
	project := projectName(dsn)
	var attributes []attribute.KeyValue
	if len(cfg.DSNs) > 0 {
		attributes = append(attributes, attribute.String("project", project))
		set.Logger = set.Logger.With(zap.String("project", project))
	}
	telemetry, err := newTelemetry(set.TelemetrySettings, attributes)
	if err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	return &sentryExporter{
		destination: cfg.destinations.of(project, cfg.Errors.Dedupe), dsn: dsn, project: project, isDefault: len(r.projects) == 0,
		cfg: cfg, settings: set, logger: collector.LimitLogs(set.Logger), telemetry: telemetry,
		selected: cfg.Metrics.selector(), rejections: &r.rejections,
		stopping: make(chan struct{}),
	}, nil
}

// Start implements component.Component.
func (e *sentryExporter) Start(ctx context.Context, host component.Host) error {
	settings := e.cfg.HTTP
	if settings.Compression == "" {
		settings.Compression = defaultCompression(e.dsn)
	}
	http, err := httpclient.New(ctx, settings, host.GetExtensions(), e.settings.TelemetrySettings)
	if err != nil {
		return fmt.Errorf("cannot set up the HTTP client: %w", err)
	}
	program := e.program()
	e.withdraw = loopguard.Shared.AddTarget(e.dsn.Host)
	e.announced.Do(func() {
		e.logger.Info("Sending to Sentry", zap.String("project", e.project), collector.StorageField("queue", e.storage()))
	})
	e.client, e.host = newClient(http, e.dsn, program.Name+"/"+program.Version), host
	for _, q := range e.queues {
		if err := q.helper.Start(ctx, host); err != nil {
			return fmt.Errorf("sending_queue: %w", collector.ExplainStorage(err))
		}
	}
	return nil
}

// Shutdown implements component.Component. It reports the last losses to Sentry.
func (e *sentryExporter) Shutdown(ctx context.Context) (err error) {
	if e.client == nil {
		return nil // never started
	}
	e.withdraw()
	close(e.stopping) // waiting requests return to the storage, if there is one
	for _, q := range e.queues {
		err = errors.Join(err, q.helper.Shutdown(ctx))
	}
	if interrupted := e.interrupted.Load(); interrupted > 0 {
		e.logger.Info("Requests remain in the storage, and are sent after the next start", zap.Int64("requests", interrupted))
	}
	e.reportLosses(ctx, true)
	e.client.http.CloseIdleConnections()
	e.client = nil
	return err
}

// enqueue adds the requests of a message to their queues. Without queues, it sends them, each
// category concurrently.
//
// If a queue rejects a request, the error is a *notQueued, and the sender may send the whole
// message again. The items then have the same IDs as before.
func (e *sentryExporter) enqueue(ctx context.Context, requests []*request) error {
	byQueue, via := map[*categoryQueue][]*request{}, loopguard.Via(ctx)
	for _, r := range requests {
		for i := range r.Envelopes {
			r.Envelopes[i].Via = via
		}
		q := e.queueOf(r)
		byQueue[q] = append(byQueue[q], r)
	}
	results := make(chan error, len(byQueue))
	for q, of := range byQueue {
		if len(byQueue) == 1 {
			return q.enqueueAll(ctx, of)
		}
		go func() { results <- q.enqueueAll(ctx, of) }()
	}
	all := &notQueued{}
	for range byQueue {
		if n, ok := errors.AsType[*notQueued](<-results); ok {
			all.error, all.requests = n.error, append(all.requests, n.requests...)
		}
	}
	if all.error == nil {
		return nil
	}
	return all
}

// dropNotQueued counts the requests that a failed enqueue did not add, and that the sender does not
// send again. It reports whether these are all that the error is about.
func (e *sentryExporter) dropNotQueued(ctx context.Context, err error) bool {
	n, ok := errors.AsType[*notQueued](err)
	if !ok {
		return false
	}
	r := reply{verdict: refused, reason: reasonQueue}
	if errors.Is(err, exporterhelper.ErrQueueIsFull) {
		r.reason = reasonQueueFull
	}
	for _, request := range n.requests {
		for i := range request.Envelopes {
			e.telemetry.posted(ctx, &request.Envelopes[i], r)
			e.losses.add(&request.Envelopes[i], lossOverflow)
		}
	}
	return true
}

// countUnreadable counts a stored request that is damaged or in the format of a later version.
func (e *sentryExporter) countUnreadable(err error) {
	e.telemetry.add(context.Background(), e.telemetry.unreadable, 1)
	e.logger.Error("Request dropped: cannot read it from the queue's storage", zap.Error(err))
}

// reportStatus reports to the collector whether Sentry accepts the key. The error is recoverable,
// because a disabled key can be enabled again in Sentry.
func (e *sentryExporter) reportStatus(r *reply) {
	switch {
	case r.isUnauthorized():
		if !e.rejected.Swap(true) {
			e.rejections.Add(1)
			componentstatus.ReportStatus(e.host, componentstatus.NewRecoverableErrorEvent(fmt.Errorf("sentry rejects the key of the dsn of project %s: %w", e.project, r.err)))
		}
	case r.verdict == sent:
		if e.rejected.Swap(false) && e.rejections.Add(-1) == 0 {
			componentstatus.ReportStatus(e.host, componentstatus.NewEvent(componentstatus.StatusOK))
		}
	}
}

// acceptsOthers reports whether Sentry has accepted anything since the last attempt to send an
// envelope. Without other traffic, it posts an empty envelope, which distinguishes an outage from
// the rejection of certain envelopes.
func (e *sentryExporter) acceptsOthers(ctx context.Context, m *health.Message) bool {
	before := e.probes.Load()
	defer acquire(e.probing)()
	for e.probes.Load() == before && !e.health.AcceptedSince(m) {
		if wait := time.Until(e.probed.Add(probeInterval)); wait > 0 {
			select {
			case <-time.After(wait):
				continue
			case <-e.stopping:
				return false
			}
		}
		e.probed = time.Now()
		e.probes.Add(1)
		empty := newClientReport(nil, e.probed)
		r := e.client.post(ctx, empty)
		e.telemetry.posted(ctx, empty, r)
		if r.verdict == sent {
			e.health.Accepted()
		}
	}
	return e.health.AcceptedSince(m)
}

// probeInterval is long enough not to burden an overloaded Sentry, and short enough to drop
// rejected envelopes soon.
const probeInterval = 2 * time.Second
