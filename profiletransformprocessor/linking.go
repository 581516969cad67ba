// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

var linkings collector.PerConfig[Config, linking]

// linking is shared by the components of one configuration, because spans and profiles arrive in
// different pipelines.
type linking struct {
	cfg       *Config
	index     *spanlink.Index
	memory    *httpbody.Budget // to link messages
	decoded   *httpbody.Budget // for held messages that were compressed
	telemetry *telemetry
	logger    *zap.Logger

	// Numbers of components that use the linking, by signal. All components are created before the
	// first one starts.
	traces, profiles int
	warned           sync.Once

	// Whether spans arrived with and without credentials, and whether that was logged.
	named, anonymous, warnedSenders atomic.Bool

	// Last reported.
	sizeMu        sync.Mutex
	size          spanlink.Size
	limitReported int64
}

// acquireLinking returns the linking of a configuration.
func acquireLinking(cfg *Config, t *telemetry, logger *zap.Logger) *linking {
	l, _ := linkings.Acquire(cfg, func() (*linking, error) {
		return &linking{
			cfg: cfg, telemetry: t, logger: logger,
			memory:  httpbody.NewBudget(linkBytes, func(context.Context, int64) {}),
			decoded: httpbody.NewBudget(decodedBytes, func(context.Context, int64) {}),
			index:   spanlink.NewIndex(cfg.Link.keys(), spanlink.Limits{Spans: cfg.Link.MaxSpans, Bytes: cfg.Link.MaxIndexBytes, MaxAge: cfg.Link.KeepSpans}),
		}, nil
	})
	return l
}

// release ends the use by one component. The numbers by signal do not change: pipelines shut down
// one after the other, and the remaining ones still link profiles to the existing spans.
func (l *linking) release(ctx context.Context) {
	if linkings.Release(l.cfg, l) {
		l.report(ctx, spanlink.Size{})
		l.telemetry.indexLimit.Add(ctx, -l.limitReported)
	}
}

// isActive reports whether the processor is in a traces and in a profiles pipeline. It warns if it
// is in only one of them, which is probably a mistake.
func (l *linking) isActive() bool {
	if !l.cfg.Link.Enabled {
		return false
	}
	if l.traces > 0 && l.profiles > 0 {
		return true
	}
	l.warned.Do(func() {
		l.logger.Warn("No samples are linked to spans: the processor must be in a traces and in a profiles pipeline. " +
			"Add it to the other pipeline, or set link::enabled to false.")
	})
	return false
}

// addTraces adds the spans of a message to the index. It does not change the message.
func (l *linking) addTraces(ctx context.Context, traces ptrace.Traces) {
	sender := tenant.FromContext(ctx).String()
	if sender == "" {
		l.anonymous.Store(true)
	} else {
		l.named.Store(true)
	}
	l.telemetry.countSpans(ctx, l.index.AddTraces(sender, traces, time.Now()))
	l.report(ctx, l.index.Size())
}

// link links the samples of a message of a sender (by credentials) to the spans that have arrived.
// It returns the work.
func (l *linking) link(ctx context.Context, sender string, profiles pprofile.Profiles, early bool) (work int64) {
	now := time.Now()
	var stats spanlink.LinkStats
	claim := l.memory.Claim(ctx)
	claim.SetTenant(sender)
	memory := min(spanlink.MaxMemory(profiles), linkBytes)
	if claim.Acquire(memory) == nil {
		stats = l.index.Link(profiles, spanlink.Options{Now: now, Tenant: sender, Ambiguous: l.cfg.Link.Ambiguous, Early: early, Work: &work, Memory: memory})
		claim.Release()
	} else {
		stats.Unlinked[spanlink.Evicted] = spanlink.Observations(profiles)
	}
	l.telemetry.countLinked(ctx, stats)
	if sender != "" && l.anonymous.Load() && !l.named.Load() && !l.warnedSenders.Swap(true) {
		l.logger.Warn("Profiles with credentials are not linked, because all spans so far arrived without credentials. " +
			"Processors that combine messages, such as batch, discard the credentials: put them after profile_transform.")
	}
	service, fromNode := sourceOf(profiles)
	for reason, count := range stats.Reasons {
		detail := whyUnlinked[reason]
		if reason == spanlink.NoSpan && fromNode {
			detail += nodeVersions
		}
		notices.Shared.Report(notices.Notice{
			Component: componentType.String(), Service: service, Subject: "samples without a span", Reason: reason.String(), Detail: detail, Count: count, Last: now,
		})
	}
	return work
}

// sourceOf returns the service of a message, or "" if it has several, and reports whether all its
// profiles are from Sentry's SDK for Node.js.
func sourceOf(profiles pprofile.Profiles) (service string, fromNode bool) {
	fromNode = profiles.ResourceProfiles().Len() > 0
	for i, resource := range profiles.ResourceProfiles().All() {
		text := func(key string) string {
			if value, stated := resource.Resource().Attributes().Get(key); stated {
				return value.AsString()
			}
			return ""
		}
		fromNode = fromNode && text(semconv.TelemetrySDKLanguage) == "nodejs" && strings.HasPrefix(text(semconv.TelemetrySDKName), "sentry.")
		switch name := text(semconv.ServiceName); {
		case i == 0:
			service = name
		case service != name:
			service = ""
		}
	}
	return service, fromNode
}

const (
	// linkBytes is the memory to link all messages that are linked at the same time. It is enough
	// for 65,000 samples with 1.3 million units of work.
	linkBytes = 128 << 20
	// decodedBytes is the memory for all messages that are decompressed at the same time, until
	// they were forwarded.
	decodedBytes = 128 << 20
)

// claimDecoded claims memory to decompress a held message, and waits for it. A message that needs
// more than decodedBytes is decompressed alone. If ctx ends, the claim is empty.
func (l *linking) claimDecoded(ctx context.Context, h *heldMessage) *httpbody.Claim {
	claim, bytes := l.decoded.Claim(ctx), min(h.decodedBytes(), decodedBytes)
	claim.SetTenant(h.tenant.Authenticated)
	for ctx.Err() == nil && errors.Is(claim.WaitAgain().Acquire(bytes), httpbody.ErrNoMemory) {
	}
	return claim
}

// nodeVersions is the usual reason in Node.js why no sample has a span.
const nodeVersions = "; install the same version of @sentry/node and @sentry/profiling-node"

// whyUnlinked explains the reasons to a user of the viewer. docs/linking.md has the details.
var whyUnlinked = map[spanlink.Reason]string{
	spanlink.NoSession:  "the profile states no profiler session",
	spanlink.NoThread:   "the samples state no thread",
	spanlink.NoSpan:     "no span was running on the thread",
	spanlink.Ambiguous:  "several unrelated spans were running on the thread: see link::ambiguous",
	spanlink.Late:       "the spans of that time have expired: see link::keep_spans",
	spanlink.Evicted:    "the spans of that time were evicted, or the profile could not wait for its spans: see link::max_index_bytes",
	spanlink.Aggregated: "the samples have no timestamps",
	spanlink.Attributes: "the samples have too many attributes",
}

// expire drops spans that are too old, for times without traffic.
func (l *linking) expire(ctx context.Context) {
	l.telemetry.countSpans(ctx, l.index.Expire(time.Now()))
	l.report(ctx, l.index.Size())
}

// report updates the metrics of the index.
func (l *linking) report(ctx context.Context, size spanlink.Size) {
	l.sizeMu.Lock()
	defer l.sizeMu.Unlock()
	l.telemetry.indexSpans.Add(ctx, int64(size.Spans-l.size.Spans))
	l.telemetry.indexSessions.Add(ctx, int64(size.Sessions-l.size.Sessions))
	l.telemetry.indexBytes.Add(ctx, size.Bytes-l.size.Bytes)
	l.telemetry.indexLimit.Add(ctx, l.cfg.Link.MaxIndexBytes-l.limitReported)
	l.limitReported = l.cfg.Link.MaxIndexBytes
	l.size = size
}
