// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/counted"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestGrowth: twice as large a file takes at most a fifth more work per element.
func TestGrowth(t *testing.T) {
	testsize.NeedFull(t)
	t.Parallel()
	counted.Linear(t, "./internal/profilefile", "./internal/profiles/...", "./profiles/...", "go.opentelemetry.io/collector/pdata/...")
}
