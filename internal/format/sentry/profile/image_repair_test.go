// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// TestDebugIDs: the forms that Sentry's parser takes, and what it refuses.
func TestDebugIDs(t *testing.T) {
	require.Equal(t, "c0bcc3f1-9827-fe65-3058-404b2831d9e6", ELFDebugID("f1c3bcc0279865fe3058404b2831d9e64135386c"))
	require.Equal(t, "0000ad0b-0000-0000-0000-000000000000", ELFDebugID("0bad"))
	require.Empty(t, ELFDebugID("0ba"))
	for _, id := range []string{
		"c0bcc3f1-9827-fe65-3058-404b2831d9e6", "c0bcc3f1-9827-fe65-3058-404b2831d9e6-a", "C0BCC3F19827FE653058404B2831D9E61",
		"c0bcc3f19827fe653058404b2831d9e6", "3249d99d1",
	} {
		require.True(t, isDebugID(id), id)
		require.Regexp(t, fakesentry.DebugID, id)
	}
	for _, id := range []string{"", "x", "c0bcc3f1-9827-fe65-3058-404b2831d9e6-", "c0bcc3f1-9827-fe65-3058-404b2831d9e6-123456789", "c0bcc3f19827-fe65-3058-404b-2831d9e6", "12345678"} {
		require.False(t, isDebugID(id), id)
	}
}
