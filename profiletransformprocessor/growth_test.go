// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/counted"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestGrowth: twice as many held messages take at most a fifth more work per message, to hold,
// batch, refuse and deliver them.
func TestGrowth(t *testing.T) {
	testsize.NeedFull(t)
	t.Parallel()
	counted.Linear(t, "./profiletransformprocessor/...", "./internal/collector/...", "./internal/heap", "./internal/profiles/...", "./profiles/...")
}
