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
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/messages"
)

// TestMain makes the binary of the tests the tool, if that is its name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "envelope" {
		main()
	}
	os.Exit(m.Run())
}

// TestExamples runs the examples of --help with the tool.
func TestExamples(t *testing.T) {
	folder := t.TempDir()
	tests, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(tests, filepath.Join(folder, "envelope")))
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
		help, errors, exit := call(t, "", "help", c.name)
		assert.Equal(t, exitOK, exit)
		assert.Empty(t, errors)
		for _, example := range c.examples {
			assert.Contains(t, help, "\n  "+strings.ReplaceAll(example, "$OUT/", "")+"\n")
		}
		same, _, _ := call(t, "", c.name, "--help")
		assert.Equal(t, help, same)
	}
}

// TestVersion prints the version of the distribution.
func TestVersion(t *testing.T) {
	out, _, exit := call(t, "", "version")
	assert.Equal(t, exitOK, exit)
	manifest, err := os.ReadFile(filepath.Join(golden.Root(t), "builder-config.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(manifest), "\n  version: "+strings.Fields(out)[1]+"\n")
}

// TestMisuse names the mistake and the fix, as in the table of messages.
func TestMisuse(t *testing.T) {
	messages.Check(t, true, func(e messages.Entry) string {
		_, errors, exit := call(t, "", strings.Fields(e.Type)...)
		assert.Equal(t, exitMisused, exit, e.Type)
		return strings.TrimSuffix(errors, "\n")
	})
}

// TestMistakes names mistakes in the choice of files, and the fix.
func TestMistakes(t *testing.T) {
	const otlp = "testdata/otlp/profiles.json"
	dir := t.TempDir()
	empty, prose, stacks := write(t, dir, "empty", ""), write(t, dir, "prose", "one\ntwo\n3 4\n"), write(t, dir, "stacks", "main;handle 3\n")
	for arguments, message := range map[string]string{
		"lint " + otlp:                              "warning no_items: ",
		"lint " + stacks:                            "looks like collapsed",
		"explain " + otlp:                           "looks like otlp-json",
		"explain " + empty:                          empty + ": it is empty",
		"scrub " + otlp:                             "looks like otlp-json",
		"check " + recorded:                         "looks like sentry",
		"convert --to pprof " + prose:               "its format is unknown: ",
		"convert --to pprof --type gif " + recorded: `--type is "gif"`,
	} {
		out, errors, _ := call(t, "", strings.Fields(arguments)...)
		assert.Contains(t, out+errors, message, arguments)
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
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	env := environment{}
	assert.Equal(t, "x", env.paint(red, "x"))
	env.terminal = true
	assert.Equal(t, "\x1b[31mx\x1b[0m", env.paint(red, "x"))

	var shown strings.Builder
	env = environment{err: &shown, progress: true}
	file, err := env.readAll("large", strings.NewReader(strings.Repeat("x", largeInput)), largeInput)
	require.NoError(t, err)
	assert.Len(t, file.Data, largeInput)
	assert.Contains(t, shown.String(), "reading large: 51%")
	assert.True(t, strings.HasSuffix(shown.String(), clearLine))

	shown.Reset()
	env.step("converting small", largeInput-1)()
	assert.Empty(t, shown.String())
	env.step("converting large", largeInput)()
	assert.Equal(t, "\rconverting large (16.8 MB)"+clearLine, shown.String())
}

// TestBinaryToTerminal: binary data goes to a terminal only if asked for; a redirection needs no
// option.
func TestBinaryToTerminal(t *testing.T) {
	profile := filepath.Join(golden.Root(t), "testdata", "cases", "sdk-go-v1", "in.envelope")
	convert := func(terminal bool, options ...string) (out, errors string, exit int) {
		var shown, failures strings.Builder
		exit = run(slices.Concat([]string{"convert"}, options, []string{profile}), environment{out: &shown, err: &failures, terminal: terminal})
		return shown.String(), failures.String(), exit
	}
	out, errors, exit := convert(true, "--to", "pprof")
	assert.Empty(t, out)
	assert.Contains(t, errors, "--out")
	assert.Equal(t, exitMisused, exit)
	for _, c := range []struct {
		terminal bool
		options  []string
	}{{true, []string{"--to", "collapsed"}}, {true, []string{"--to", "otlp-proto", "--out", "-"}}, {false, []string{"--to", "pprof"}}} {
		out, _, exit = convert(c.terminal, c.options...)
		assert.NotEmpty(t, out, c)
		assert.Equal(t, exitOK, exit, c)
	}
}
