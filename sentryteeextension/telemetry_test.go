// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

func TestInstruments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &memoryStorage{}
		b := newBench(t, disk).run()
		b.setAnswer(func(*request) int { return 403 })
		b.send("1", "a", 10)
		b.limits.learn(key{"1", "k"}, 200, map[string][]string{sentry.HeaderRateLimits: {"60:error:key"}}, time.Now())
		disk.mu.Lock()
		disk.err = assert.AnError
		disk.mu.Unlock()
		b.send("1", "b", 10)
		b.forwarder.telemetry.omitted(omit.Losses{{Outcome: "rate_limited", Reason: "generic", Category: sentry.CategorySpan}: 1})
		synctest.Wait()
		metadatatest.CheckInstruments(t, b.telemetry, scopeName)
		b.close()
	})
}
