// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// Profiles of OTLP 1.9 go on in the current dialect, with a warning; those that cannot be
// translated are rejected with one line that names their producer.
func TestOldDialect(t *testing.T) {
	h := start(t, "link: {enabled: false}")
	old := func(path ...string) pprofile.Profiles {
		encoded, err := os.ReadFile(filepath.Join(append([]string{golden.Root(t)}, path...)...))
		require.NoError(t, err)
		p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
		require.NoError(t, err)
		return p
	}
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), old("testdata", "otlp", "async-profiler", "4.4-itimer.pb")))
	require.Len(t, h.sink.AllProfiles(), 1)
	sample := h.sink.AllProfiles()[0].ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().At(0)
	require.Positive(t, sample.Values().At(0))
	warning := h.logs.FilterMessageSnippet("older OTLP version").All()
	require.Len(t, warning, 1)
	require.Equal(t, "async-profiler of an unknown version", warning[0].ContextMap()["producer"])

	err := h.profiles.ConsumeProfiles(t.Context(), old("internal", "profiles", "dialect", "testdata", "otlp-1.9", "large.pb"))
	require.ErrorContains(t, err, "old-profiler 0.9")
	require.True(t, consumererror.IsPermanent(err))
	require.Len(t, h.sink.AllProfiles(), 1)
	h.balanced()
}
