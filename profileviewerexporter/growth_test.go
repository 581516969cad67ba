// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/counted"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestGrowth: twice as many messages take at most a fifth more work per message, to store, evict,
// list, sort and search them.
func TestGrowth(t *testing.T) {
	testsize.NeedFull(t)
	t.Parallel()
	counted.Linear(t, "./profileviewerexporter/...", "./internal/collector/fairshare", "./internal/heap", "./internal/profiles/...", "./profiles/...")
}
