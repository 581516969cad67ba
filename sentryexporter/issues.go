// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/toissues"
)

// issues are the events for the exceptions in a message, without those that Sentry already has.
type issues struct {
	requests []*request
	attempt  *dedup.Attempt // nil = no deduplication
	logger   *zap.Logger
}

// enqueueWithIssues adds the requests of a message, and those for its exceptions, to their queues.
func (e *sentryExporter) enqueueWithIssues(ctx context.Context, requests []*request, export toissues.Export) error {
	issues, err := e.convertIssues(ctx, export)
	if err != nil {
		return err
	}
	err = e.enqueue(ctx, append(requests, issues.requests...))
	issues.finish(ctx, err)
	return err
}

// convertIssues creates events from the exceptions of spans. It returns only errors of the context.
func (e *sentryExporter) convertIssues(ctx context.Context, export toissues.Export) (*issues, error) {
	e.telemetry.lost(ctx, e.telemetry.exceptionsDiscarded, export.Lost)
	e.telemetry.fieldsLost(ctx, export.Flaws)
	result := &issues{logger: e.logger}
	if len(export.Events) == 0 {
		return result, nil
	}
	seen := make([]bool, len(export.Events))
	if e.cfg.Errors.Dedupe > 0 {
		ids := make([]dedup.ID, len(export.Events))
		for i := range export.Events {
			ids[i] = e.failureID(export.Events[i].Failure)
			if e.holds(&export.Events[i]) {
				seen[i] = e.failures.Has(ids[i])
				ids[i].Kind = provisional
			}
		}
		attempt, err := e.failures.Begin(ctx, ids)
		if err != nil {
			return nil, err
		}
		result.attempt = attempt
		for i := range seen {
			seen[i] = seen[i] || attempt.Seen[i]
		}
	}
	for i := range export.Events {
		event := &export.Events[i]
		switch {
		case seen[i]:
			e.telemetry.lost(ctx, e.telemetry.exceptionsDiscarded, []discard.Loss{{Reason: toissues.ReasonDuplicate, Count: 1}})
		case !e.flood.allow(event.Kind, e.cfg.Errors.MaxPerMinute, time.Now()):
			e.telemetry.lost(ctx, e.telemetry.exceptionsDiscarded, []discard.Loss{{Reason: reasonFlood, Count: 1}})
			e.losses.count(lossSampled, sentry.CategoryError, 1)
		default:
			result.requests = append(result.requests, e.issueRequest(event, time.Now()))
		}
	}
	return result, nil
}

// finish stores the failures, unless the sender will send the message again.
func (i *issues) finish(ctx context.Context, err error) {
	if i.attempt == nil {
		return
	}
	accepted := dedup.All
	if err != nil {
		accepted = 0
	}
	if err := i.attempt.Finish(ctx, accepted); err != nil { // only with a storage, which this window does not have
		i.logger.Error("Cannot remember failures", zap.Error(err))
	}
}

func (e *sentryExporter) issueOptions() toissues.Options {
	return toissues.Options{
		ExportOptions:   e.exportOptions(),
		FromSpans:       e.cfg.Errors.FromSpans,
		FromLogs:        e.cfg.Errors.FromLogs,
		SkipIfSentrySDK: e.cfg.Errors.SkipIfSentrySDK,
		IncludePII:      e.cfg.Errors.IncludePII,
		Tags:            e.cfg.Errors.Tags,
	}
}

// reasonFlood is the reason for dropping failures of one kind beyond errors::max_per_minute.
const reasonFlood discard.Reason = "sampled"

// flood counts the events of each kind in the current minute, so that exceptions in a loop do not
// exhaust the quota.
type flood struct {
	mu     sync.Mutex
	minute time.Time
	counts map[string]int
}

// maxKinds bounds the memory of a flood. Further kinds share one limit.
const maxKinds = 10_000

// allow counts an event and reports whether it is within the limit; 0 = no limit.
func (f *flood) allow(kind string, limit int, now time.Time) bool {
	if limit == 0 {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if minute := now.Truncate(time.Minute); minute != f.minute {
		f.minute, f.counts = minute, map[string]int{}
	}
	if _, known := f.counts[kind]; !known && len(f.counts) >= maxKinds {
		kind = ""
	}
	if f.counts[kind] == limit {
		return false
	}
	f.counts[kind]++
	return true
}
