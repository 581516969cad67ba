// SPDX-License-Identifier: Apache-2.0

// Package pyroscopetest is test support: it checks profiles of any component as Pyroscope would,
// behind the preset that its users configure.
package pyroscopetest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/transform"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakepyroscope"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

// Check sends copies of messages through the preset. The test fails if a result is not valid OTLP,
// or if Pyroscope would reject it. Check returns the stored profiles.
func Check(t testing.TB, messages ...pprofile.Profiles) *fakepyroscope.Store {
	t.Helper()
	steps, err := transform.Preset(transform.PresetPyroscope)
	require.NoError(t, err)
	store := fakepyroscope.Store{}
	for _, message := range messages {
		sent := pprofile.NewProfiles()
		message.CopyTo(sent)
		parts, _ := transform.Apply(sent, steps)
		for _, part := range parts {
			require.Empty(t, conformance.Check(part))
			store.MustPush(t, part)
		}
	}
	return &store
}
