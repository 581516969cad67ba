// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/health"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// destination is the state of one project that the exporters of all signals share.
type destination struct {
	profiled  atomic.Bool // a pipeline sends profiles there
	fromSpans atomic.Bool // a pipeline sends events for the exceptions of spans there
	clocks    clocks      // of the profiles that were sent there
	limits    sentry.ActiveLimits
	losses    losses
	failures  *dedup.Window // whose events were sent; of all projects, each with a fair share
	flood     flood
	health    health.Destination

	announced sync.Once // in the log

	probing chan struct{} // a slot for one probe; guards probed
	probed  time.Time     // when the last probe began
	probes  atomic.Int64  // number of probes
}

// maxFailures bounds the memory of failures: 320 bytes for each.
const maxFailures = 50_000

// destinations are the destinations of a configuration, by the name of the project.
type destinations struct {
	mu        sync.Mutex
	failures  *dedup.Window
	byProject map[string]*destination
}

func (d *destinations) of(project string, dedupe time.Duration) *destination {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byProject == nil {
		d.byProject, d.failures = map[string]*destination{}, dedup.New(dedup.Config{MaxIDs: maxFailures, MaxAge: dedupe})
	}
	if d.byProject[project] == nil {
		d.byProject[project] = &destination{failures: d.failures, probing: make(chan struct{}, 1)}
	}
	return d.byProject[project]
}
