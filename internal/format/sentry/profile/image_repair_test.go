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

// TestBuildID: a debug ID as bytes, in the order of the file. ELFDebugID is its inverse.
func TestBuildID(t *testing.T) {
	for _, c := range []struct{ imageType, debugID, want string }{
		{"macho", "6AD2F3C1-58A9-3E0B-9F41-1C2D3E4F5A6B", "6ad2f3c158a93e0b9f411c2d3e4f5a6b"},
		{"macho", "6ad2f3c158a93e0b9f411c2d3e4f5a6b0", "6ad2f3c158a93e0b9f411c2d3e4f5a6b"},
		{"pe", "3249d99d-0c40-4931-8610-f4e4fb0b6936-1F", "3249d99d0c4049318610f4e4fb0b69360000001f"},
		{"symbolic", "3249d99d0c4049318610f4e4fb0b6936-1", "3249d99d0c4049318610f4e4fb0b693600000001"},
		{"symbolic", "3B7A1E202", "3b7a1e2000000002"},
		{"elf", "c0bcc3f1-9827-fe65-3058-404b2831d9e6", "f1c3bcc0279865fe3058404b2831d9e6"},
		{"macho", "not-an-id", ""},
		{"macho", "", ""},
	} {
		image := Image{Type: c.imageType, DebugID: c.debugID}
		require.Equal(t, c.want, image.BuildID(), c.debugID)
		if c.imageType == "elf" {
			require.Equal(t, c.debugID, ELFDebugID(image.BuildID()))
		}
	}
}
