// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// What a pipeline has just refused would be refused again: while its breaker is open, items are turned away before they are
// decoded (translateItem), and where the breakers of all signals are, requests before they are decompressed. Of CPU, to refuse
// one of the profiles of make load took 0.75 ms after its translation, 0.26 ms before it was decoded, 0.12 ms before it was
// decompressed.

// refusesAll says whether nothing would be taken of a request, whatever is in it.
func (r *sentryReceiver) refusesAll() bool {
	now := r.now()
	for s := range numSignals {
		if r.takes(s) && !r.gates[s].Open(now) {
			return false
		}
	}
	return true
}

// turnAway answers a request that is not looked into. How many items it has is not known: it is counted itself.
func (r *sentryReceiver) turnAway(req *http.Request) answer {
	r.telemetry.requestRejected(req.Context(), sentry.RateLimitBackpressure)
	var all []signal
	for s := range numSignals {
		if r.takes(s) {
			all = append(all, s)
		}
	}
	return busyAnswer(r.holdBack(all))
}

func busyAnswer(limits []sentry.RateLimit) answer {
	return answer{status: http.StatusTooManyRequests, limits: limits, Detail: "the collector is busy, everything in the envelope was dropped",
		Causes: []string{"the pipeline refused the data for now"}}
}

// holdBack asks SDKs to send nothing for these signals for a while.
func (r *sentryReceiver) holdBack(refused []signal) []sentry.RateLimit {
	if len(refused) == 0 {
		return nil
	}
	var types []sentry.ItemType
	for _, s := range refused {
		types = append(types, stoppedBy[s]...)
	}
	return r.pause(sentry.RateLimitBackpressure, types...)
}

// pause asks SDKs to send none of these types for a while.
func (r *sentryReceiver) pause(reason string, types ...sentry.ItemType) []sentry.RateLimit {
	return []sentry.RateLimit{{
		Seconds:    int(r.cfg.BackpressurePause / time.Second),
		Categories: sentry.StoppedBy(types...),
		Scope:      sentry.ScopeKey,
		Reason:     reason,
	}}
}
