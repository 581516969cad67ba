// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
)

// anyone is the tenant of messages without authentication.
var anyone tenant.Tenant

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
