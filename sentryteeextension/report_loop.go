// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

// reportInterval is the interval between client reports: one request for each key with omitted
// data, regardless of the traffic.
const reportInterval = 10 * time.Second

// reportAlways sends reports until the forwarder stops.
func (f *forwarder) reportAlways(ctx context.Context) {
	ticker := time.NewTicker(reportInterval)
	defer ticker.Stop()
	for {
		select {
		case <-f.stopReports:
			return
		case <-ticker.C:
			f.report(ctx)
		}
	}
}

// report queues a request for each key with losses. While Sentry limits all categories, the losses
// wait: a rejected report would be lost.
func (f *forwarder) report(ctx context.Context) {
	now := f.now()
	for k, losses := range f.reports.all() {
		if limits := f.limits.of(k); limits != nil {
			if wait, _ := limits.Of(nil, now); wait > 0 {
				continue
			}
		}
		if err := f.addReport(ctx, k, losses, now); err != nil {
			f.logger.Warn("Omitted data cannot be reported to Sentry now", zap.String("project", k.project), zap.Error(err))
		}
	}
}

// addReport queues a report, and removes its losses from those to be reported. After an error, they
// are added again.
func (f *forwarder) addReport(ctx context.Context, k key, losses omit.Losses, now time.Time) error {
	r, err := newReport(k, losses, now)
	if err != nil {
		return err
	}
	claim := f.room.Claim(context.WithoutCancel(ctx)).NeverWait()
	claim.SetTenant(r.Project)
	e := newEntry(r, claim)
	if err := claim.Acquire(e.Weight); err != nil {
		return err
	}
	if f.spool == nil {
		f.reports.add(k, losses, -1)
	} else if e.number, e.Weight, err = f.store(context.Background(), r); err != nil {
		claim.Release()
		return err
	}
	f.queueUp(e)
	return nil
}
