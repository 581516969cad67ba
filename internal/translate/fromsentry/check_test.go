// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

// checkOutput compares a translated profile with what the oracle reads from the payload, and checks
// that it is valid OTLP.
func checkOutput(t *testing.T, name string, out pprofile.Profiles, want golden.Observations) {
	t.Helper()
	checkConformance(t, name, out)
	profile := out.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
	got := golden.Observed(out.Dictionary(), profile)
	require.Equal(t, want.Count(), got.Count(), name)
	require.Empty(t, got.Diff(want), name)
}

func checkConformance(t *testing.T, name string, out pprofile.Profiles) {
	t.Helper()
	require.Empty(t, conformance.Check(out), name)
}
