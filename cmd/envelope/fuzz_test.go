// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// everyCall returns a command line for each command and format, with the standard input as input.
func everyCall(server string) (all [][]string) {
	add := func(line string, more ...string) { all = append(all, append(strings.Fields(line), more...)) }
	add("explain -")
	add("explain --linked -")
	add("scrub -")
	for _, format := range slices.Sorted(maps.Keys(reports)) { // in the same order in each process of the fuzzer
		for _, command := range []string{"lint", "check"} {
			add(command + " - --format " + format)
			add(command + " - --strict --format " + format)
		}
	}
	for _, to := range slices.Sorted(maps.Keys(writers)) {
		add("convert - --to " + to)
	}
	for _, from := range slices.Sorted(maps.Keys(profilefile.Readers)) {
		add("convert - --to collapsed --from " + from)
	}
	add("convert - --to otlp-proto --dialect 1.9")
	add("convert - --to pprof --type samples")
	add("send - --otlp", server)
	dsn := strings.Replace(server, "://", "://abc@", 1) + "/42"
	add("send - --dsn", dsn)
	add("send - --as-is --dsn", dsn)
	return all
}

// startDiscard starts a backend that accepts everything.
func startDiscard(t testing.TB) string {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	t.Cleanup(server.Close)
	return server.URL
}

// survives runs every command. None may panic, and each says why it fails.
func survives(t *testing.T, calls [][]string, data []byte) {
	for _, line := range calls {
		var out, errors bytes.Buffer
		exit := 0
		require.NotPanics(t, func() { exit = run(line, environment{in: bytes.NewReader(data), out: &out, err: &errors}) }, "%q with %.200q", line, data)
		require.True(t, exit == exitOK || out.Len()+errors.Len() > 0, "%q fails silently with %.200q", line, data)
		require.True(t, exit != exitMisused || line[0] == "convert" && strings.Contains(errors.String(), "--type"), "%q with %.200q: %s", line, data, &errors)
	}
}

// smallFiles returns a small file of each format.
func smallFiles(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	add := func(name string, encoded []byte, err error) {
		require.NoError(t, err, name)
		files[name] = encoded
	}
	for format, write := range writers {
		var file bytes.Buffer
		err := write(quiet(), &file, []pprofile.Profiles{dictionarytest.ValidProfiles()})
		add(format, file.Bytes(), err)
	}
	older, c := new(bytes.Buffer), quiet()
	c.dialect = "1.9"
	err := writeOTLPProto(c, older, []pprofile.Profiles{dictionarytest.ValidProfiles()})
	add("OTLP 1.9", older.Bytes(), err)
	for name, path := range map[string]string{
		"envelope": "cases/rule-metadata-v2-sdk/in.envelope", "events": "cases/event-php-message-stack/in.envelope",
		"traces": "otlp/traces.json", "logs": "otlp/logs.json", "metrics": "otlp/metrics.json",
	} {
		content, err := os.ReadFile(filepath.Join(golden.Root(t), "testdata", path))
		add(name, content, err)
	}
	traces, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(files["traces"])
	require.NoError(t, err)
	encoded, err := new(ptrace.ProtoMarshaler).MarshalTraces(traces)
	add("traces, protobuf", encoded, err)
	logs, err := new(plog.JSONUnmarshaler).UnmarshalLogs(files["logs"])
	require.NoError(t, err)
	encoded, err = new(plog.ProtoMarshaler).MarshalLogs(logs)
	add("logs, protobuf", encoded, err)
	add("cpuprofile", []byte(`{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2]},{"id":2,"callFrame":{"functionName":"f","url":"a.js","lineNumber":1}}],`+
		`"startTime":1,"endTime":9,"samples":[2,2],"timeDeltas":[1,4]}`), nil)
	return files
}

// damaged returns files with damage in one place: a wrong byte, or a missing end.
func damaged(file []byte, step int) (all [][]byte) {
	for at := step / 2; at < len(file); at += step {
		all = append(all, file[:at])
		for _, wrong := range []byte{0x15, 0x80, 0xff} {
			broken := bytes.Clone(file)
			broken[at] ^= wrong
			all = append(all, broken)
		}
	}
	return all
}

// TestDamagedFiles: a damaged file is an error of every command, in every format.
func TestDamagedFiles(t *testing.T) {
	t.Chdir(golden.Root(t))
	calls, places := everyCall(startDiscard(t)), 1
	if testsize.Full() {
		places = 15
	}
	for _, file := range smallFiles(t) {
		survives(t, calls, file)
		for _, broken := range damaged(file, max(1, len(file)/places)) {
			survives(t, calls, broken)
		}
	}
}

// FuzzCommands runs any command with any input.
func FuzzCommands(f *testing.F) {
	calls := everyCall(startDiscard(f))
	for _, file := range smallFiles(f) {
		for i := range calls {
			f.Add(file, byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, call byte) {
		i := int(call) % len(calls)
		survives(t, calls[i:i+1], data)
	})
}
