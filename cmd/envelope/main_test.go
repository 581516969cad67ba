// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestExamples runs the examples of --help with the built tool.
func TestExamples(t *testing.T) {
	folder := t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(folder, "envelope"), ".")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("OUT", t.TempDir())
	b := startBackend(t)
	t.Setenv("DSN", b.dsn())
	t.Setenv("OTLP", b.URL)
	for _, c := range commands {
		require.NotEmpty(t, c.examples, c.name)
		for _, example := range c.examples {
			shell := exec.Command("sh", "-e", "-c", example)
			shell.Dir = golden.Root(t)
			output, err := shell.CombinedOutput()
			assert.NoError(t, err, "%s\n%s", example, output)
		}
	}
}

func TestHelp(t *testing.T) {
	out, _, exit := call(t, "", "help")
	assert.Equal(t, exitOK, exit)
	for _, c := range commands {
		assert.Contains(t, out, "envelope "+c.name)
		_, help, exit := call(t, "", c.name, "--help")
		assert.Equal(t, exitOK, exit)
		assert.Contains(t, help, c.examples[0])
	}
}

func TestMisuse(t *testing.T) {
	for _, arguments := range [][]string{{"explode"}, {"explain"}, {"explain", "--color", "-"}} {
		_, errors, exit := call(t, "", arguments...)
		assert.Equal(t, exitMisused, exit, arguments)
		assert.NotEmpty(t, errors)
	}
}

func TestInputs(t *testing.T) {
	envelope := "{}\n{\"type\":\"client_report\"}\n{\"discarded_events\":[]}\n"
	var zipped, zstandard bytes.Buffer
	gz := gzip.NewWriter(&zipped)
	_, _ = gz.Write([]byte(envelope))
	require.NoError(t, gz.Close())
	zs, err := zstd.NewWriter(&zstandard)
	require.NoError(t, err)
	_, _ = zs.Write([]byte(envelope))
	require.NoError(t, zs.Close())

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/there" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(zipped.Bytes())
	}))
	defer server.Close()

	dir := t.TempDir()
	for _, name := range []string{"-", write(t, dir, "plain", envelope), write(t, dir, "zipped", zipped.String()), write(t, dir, "zstd", zstandard.String()), server.URL + "/there"} {
		out, errors, exit := call(t, envelope, "explain", name)
		assert.Contains(t, out, "item 1   client_report, 23 B", name)
		assert.Empty(t, errors)
		assert.Equal(t, exitOK, exit)
	}
	for name, why := range map[string]string{
		filepath.Join(dir, "none"): "no such file",
		dir:                        "it is a folder",
		server.URL + "/elsewhere":  "404 Not Found",
		write(t, dir, "cut", zipped.String()[:zipped.Len()-9]): "unexpected EOF",
	} {
		_, errors, exit := call(t, "", "explain", name)
		assert.Contains(t, errors, why)
		assert.Equal(t, exitFailed, exit)
	}
}

// TestHostileNames: names of the input cannot control the terminal or fill it.
func TestHostileNames(t *testing.T) {
	name := `\u001b[2J` + strings.Repeat("long ", 1000)
	envelope := `{"sdk":{"name":"` + name + `","version":"\u0007"}}` + "\n" + `{"type":"` + name + `"}` + "\n{}\n"
	out, _, _ := call(t, envelope, "explain", "-")
	assert.NotContains(t, out, "\x1b")
	assert.NotContains(t, out, "\a")
	assert.Less(t, len(out), 1000)
}

func TestColorsAndProgress(t *testing.T) {
	env := environment{}
	assert.Equal(t, "x", env.paint(red, "x"))
	env.colors = true
	assert.Equal(t, "\x1b[31mx\x1b[0m", env.paint(red, "x"))

	var shown strings.Builder
	env = environment{err: &shown, progress: true}
	data, err := env.readAll("large", strings.NewReader(strings.Repeat("x", largeInput)), largeInput)
	require.NoError(t, err)
	assert.Len(t, data, largeInput)
	assert.Contains(t, shown.String(), "reading large: 51%")
	assert.True(t, strings.HasSuffix(shown.String(), "\r\x1b[K"))
}
