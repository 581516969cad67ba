// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
)

// TestImportIsThatOfTheTool: the page accepts and rejects the same files as envelope convert, with
// the same losses. Both use profilefile.Read.
func TestImportIsThatOfTheTool(t *testing.T) {
	h := start(t, nil)
	var files []string
	// Neither judged.json nor versions.json is a profile.
	for _, pattern := range []string{"testdata/reported/*", "testdata/foreign/*/[^jv]*.*", "internal/profiles/pprof/testdata/foreign/*.gz"} {
		found, err := filepath.Glob(filepath.Join(golden.Root(t), pattern))
		require.NoError(t, err)
		files = append(files, found...)
	}
	require.Greater(t, len(files), 80)
	accepted := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := profilefile.Load(bytes.NewReader(data), maxImport)
		require.NoError(t, err)
		format, content, err := profilefile.Read(file, "", importer.Options{Start: time.Now()})
		status, out, text := h.post("/api/import", bytes.NewReader(data))
		if err != nil {
			assert.Equal(t, http.StatusUnprocessableEntity, status, name)
			assert.Contains(t, text, answer.Display(err.Error())[:30], name)
			continue
		}
		accepted++
		require.Equal(t, http.StatusOK, status, "%s: %s", name, text)
		assert.Equal(t, format, out.Format, name)
		profiles := 0
		for _, message := range content.Profiles {
			profiles += message.ProfileCount()
		}
		assert.Equal(t, profiles, out.Profiles, name)
		assert.Len(t, out.Losses, len(content.Losses), name)
	}
	assert.Greater(t, accepted, 10)
}
