package translate

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/golden"
)

func checkOutput(t *testing.T, name string, out pprofile.Profiles, want golden.Observations) {
	t.Helper()
	profile := out.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
	got := golden.Observed(out.Dictionary(), profile)
	require.Equal(t, want.Count(), got.Count(), name)
	require.Empty(t, got.Diff(want), name)
}
