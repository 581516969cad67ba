// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
)

var linkings collector.PerConfig[Config, linking]

// linking is what the components of one configuration share: spans come in by one pipeline, profiles by another.
type linking struct {
	cfg       *Config
	index     *spanlink.Index
	telemetry *telemetry
	logger    *zap.Logger

	// The components that use it, by signal. They are all created before the first is started.
	traces, profiles int
	warned           sync.Once

	sizeMu sync.Mutex
	size   spanlink.Size // as last reported
}

// acquireLinking gives what the components of a configuration share.
func acquireLinking(cfg *Config, t *telemetry, logger *zap.Logger) *linking {
	l, _ := linkings.Acquire(cfg, func() (*linking, error) {
		return &linking{
			cfg: cfg, telemetry: t, logger: logger,
			index: spanlink.NewIndex(cfg.Link.keys(), spanlink.Limits{Spans: cfg.Link.MaxSpans, MaxAge: cfg.Link.KeepSpans}),
		}, nil
	})
	return l
}

// release ends the use by one component. The numbers by signal stay: pipelines are shut down one by one, and the rest of them
// still link with what there is.
func (l *linking) release(ctx context.Context) {
	if linkings.Release(l.cfg, l) {
		l.report(ctx, spanlink.Size{})
	}
}

// works says whether there are spans and profiles. If there are only some of them, that is likely a mistake.
func (l *linking) works() bool {
	if !l.cfg.Link.Enabled {
		return false
	}
	if l.traces > 0 && l.profiles > 0 {
		return true
	}
	l.warned.Do(func() {
		l.logger.Warn("No samples are linked to spans: the processor has to be in a traces and in a profiles pipeline for that. " +
			"Name it in the other as well, or set link::enabled to false.")
	})
	return false
}

// addTraces takes the spans of a message, which it leaves as it is.
func (l *linking) addTraces(ctx context.Context, traces ptrace.Traces) {
	l.telemetry.spans(ctx, l.index.AddTraces(traces, time.Now()))
	l.report(ctx, l.index.Size())
}

// link links the samples of a message, as far as spans have come.
func (l *linking) link(ctx context.Context, profiles pprofile.Profiles, early bool) {
	l.telemetry.linked(ctx, l.index.Link(profiles, spanlink.Options{Now: time.Now(), Ambiguous: l.cfg.Link.Ambiguous, Early: early}))
}

// expire forgets spans that are too old, when nothing else happens.
func (l *linking) expire(ctx context.Context) {
	l.telemetry.spans(ctx, l.index.Expire(time.Now()))
	l.report(ctx, l.index.Size())
}

// report brings the metrics of the index up to date.
func (l *linking) report(ctx context.Context, size spanlink.Size) {
	l.sizeMu.Lock()
	defer l.sizeMu.Unlock()
	l.telemetry.indexSpans.Add(ctx, int64(size.Spans-l.size.Spans))
	l.telemetry.indexSessions.Add(ctx, int64(size.Sessions-l.size.Sessions))
	l.size = size
}
