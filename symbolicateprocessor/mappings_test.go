// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/debugid"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/proguard"
)

// Mappings are found by the UUID of their bytes, and by the one in their path.
func TestMappings(t *testing.T) {
	const named, unified, upload = "11111111-2222-4333-8444-555555555555", "66666666-2222-4333-8444-555555555555", "77777777-2222-4333-8444-555555555555"
	h := start(t, "")
	write := func(path, class string) {
		path = filepath.Join(h.directory, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(class+" -> a.a:\n"), 0o644))
	}
	computed, err := debugid.ProGuard(strings.NewReader("computed.Class -> a.a:\n"))
	require.NoError(t, err)
	files := h.processor.(*profilesProcessor).Shared
	eventually := func(id string, want symbols.Status) (m *proguard.Mapping) {
		require.Eventually(t, func() bool {
			var status symbols.Status
			m, status = files.of(anyone).Mapping(id)
			return status == want
		}, 30*time.Second, 10*time.Millisecond, "want %s", want)
		return m
	}
	eventually(computed, symbols.MissingFile)

	write("builds/release/mapping.txt", "computed.Class")
	write(named, "named.Class")
	write("66/666666222243338444555555555555/proguard", "unified.Class")
	write("proguard/"+upload+".txt", "upload.Class")
	for id, want := range map[string]string{computed: "computed.Class", named: "named.Class", unified: "unified.Class", strings.ToUpper(upload): "upload.Class"} {
		got, _ := eventually(id, symbols.OK).Class("a.a")
		assert.Equal(t, want, got)
	}
	eventually("no UUID", symbols.MissingFile)

	require.NoError(t, os.WriteFile(filepath.Join(h.directory, named), []byte("no mapping"), 0o644))
	eventually(named, symbols.Error)
	require.NoError(t, os.Remove(filepath.Join(h.directory, named)))
	eventually(named, symbols.MissingFile)
	h.eventually("https://shop.example/builds/release/mapping.txt", "", "l")
}
