// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// TestOriginText: every character that is valid in an origin, and the neighboring characters in
// ASCII.
func TestOriginText(t *testing.T) {
	require.Equal(t, "_09_azAZ.__", originText("_09_azAZ._\u00e4"))
	require.Equal(t, "_______", originText("/:`{@[-"))
	require.Equal(t, strings.Repeat("a", maxOp), originText(strings.Repeat("a", maxOp)))
	require.Equal(t, strings.Repeat("a", maxOp), originText(strings.Repeat("a", maxOp+1)))
	require.Equal(t, "ab", clip("ab\u00e4", 3)[:2], "no part of a character")
}

func TestSplitFunction(t *testing.T) {
	for _, row := range [][4]string{ // name, frame type → function, module
		{"java.lang.Thread.run", "jvm", "run", "java.lang.Thread"},
		{"a.run(java.lang.String)", "jvm", "run(java.lang.String)", "a"},
		{"T.run", "jvm", "run", "T"},
		{".run", "jvm", ".run", ""},
		{"run", "jvm", "run", ""},
		{"net/http.(*Server).Serve", "go", "(*Server).Serve", "net/http"},
		{"main.main", "go", "main", "main"},
		{"a/.init", "go", "a/.init", ""},
		{"a/b.f[c/d.T]", "go", "f[c/d.T]", "a/b"},
		{"a.b", "native", "a.b", ""},
	} {
		function, module := splitFunction(profile.Frame{Function: row[0]}, row[1])
		require.Equal(t, row, [4]string{row[0], row[1], function, module})
	}
	function, module := splitFunction(profile.Frame{Function: "a.b", Module: "m"}, "jvm")
	require.Equal(t, [2]string{"a.b", "m"}, [2]string{function, module})
}
