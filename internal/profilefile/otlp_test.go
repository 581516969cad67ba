// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// exporterFiles are files of the collector's file exporter 0.161, one for each mode: a message of
// profiles, of spans, of log records, of metrics, and the same profiles again. The exporter is that
// of the built collector; the messages are those of testdata/otlp.
func exporterFiles(t *testing.T) map[string][]byte {
	files := map[string][]byte{}
	found, err := filepath.Glob(filepath.Join(golden.Root(t), "testdata/reported/file-exporter-*.out"))
	require.NoError(t, err)
	for _, name := range found {
		files[filepath.Base(name)], err = os.ReadFile(name)
		require.NoError(t, err)
	}
	require.Len(t, files, 6)
	return files
}

func readAll(data []byte) (Content, error) {
	file, err := Load(bytes.NewReader(data), 1<<24)
	if err != nil {
		return Content{}, err
	}
	_, content, err := Read(file, "", importer.Options{})
	return content, err
}

// TestFileExporter reads every mode of the collector's file exporter.
func TestFileExporter(t *testing.T) {
	want, err := os.ReadFile(filepath.Join(golden.Root(t), "testdata/otlp/profiles.json"))
	require.NoError(t, err)
	source, err := readAll(want)
	require.NoError(t, err)
	for name, data := range exporterFiles(t) {
		content, err := readAll(data)
		require.NoError(t, err, name)
		assert.Empty(t, content.Losses, name)
		require.Len(t, content.Profiles, 2, name)
		for _, message := range content.Profiles {
			assert.Empty(t, dictionarytest.Diff(source.Profiles[0], message), name)
		}
		require.Len(t, content.Traces, 1, name)
		require.Len(t, content.Logs, 1, name)
		require.Len(t, content.Metrics, 1, name)
		assert.Positive(t, content.Traces[0].SpanCount(), name)
		assert.Positive(t, content.Logs[0].LogRecordCount(), name)
		assert.Positive(t, content.Metrics[0].DataPointCount(), name)
	}
}

func (c *Content) messages() int {
	return len(c.Profiles) + len(c.Traces) + len(c.Logs) + len(c.Metrics)
}

// TestCutFiles: a collector that is killed leaves a file without its end. The complete messages are
// read, and the missing end is a loss.
func TestCutFiles(t *testing.T) {
	for name, data := range exporterFiles(t) {
		most := 0
		step := 41 // a message has some hundred bytes
		if testsize.Full() {
			step = 7
		}
		for end := 0; end < len(data); end += step {
			content, err := readAll(data[:end])
			switch {
			case err != nil && strings.Contains(name, "native"): // it is one block
			case err != nil:
				assert.Less(t, end, len(data)*2/3, "%s to byte %d: %s", name, end, err)
			case content.messages() < 5 && len(content.Losses) == 0:
				if data[end-1] != '\n' {
					assert.Greater(t, content.messages(), most, "%s to byte %d: nothing is lost only at the end of a message", name, end)
				}
			}
			most = max(most, content.messages())
		}
		if !strings.Contains(name, "native") {
			assert.GreaterOrEqual(t, most, 4, name)
		}
	}
}

// TestAppendedFiles: a collector that restarts appends to what it left.
func TestAppendedFiles(t *testing.T) {
	files := exporterFiles(t)
	for name, file := range files {
		content, err := readAll(append(slices.Clone(file), file...))
		require.NoError(t, err, name)
		assert.Equal(t, 10, content.messages(), name)
		assert.Empty(t, content.Losses, name)

		broken := append(slices.Clone(file[:len(file)-100]), file...)
		content, err = readAll(broken)
		if strings.Contains(name, "native") {
			continue // the stream is damaged
		}
		require.NoError(t, err, name)
		assert.NotEmpty(t, content.Losses, name)
		assert.GreaterOrEqual(t, content.messages(), 4, name)
	}
}

// TestRotatedFiles: a rotation ends a file between two writes of the exporter, which are a message
// with its length, or a line and its end. With native compression, each is a frame of its own, and
// a message that is larger than the file is several frames, in files that must be concatenated.
func TestRotatedFiles(t *testing.T) {
	for name, file := range exporterFiles(t) {
		packed := func(part []byte) []byte { return part }
		if strings.Contains(name, "native") {
			loaded, err := Load(bytes.NewReader(file), 1<<20)
			require.NoError(t, err)
			file, packed = loaded.Data, func(part []byte) []byte { return zstandard(t, part) }
		}
		lines := file[0] == '{'
		for end := 0; end < len(file); {
			if lines {
				end += bytes.IndexByte(file[end:], '\n')
			} else {
				end += prefixBytes + int(binary.BigEndian.Uint32(file[end:]))
			}
			messages := 0
			for _, part := range [][]byte{file[:end], file[end:]} {
				if len(bytes.TrimSpace(part)) == 0 {
					continue
				}
				content, err := readAll(packed(part))
				require.NoError(t, err, name)
				assert.Empty(t, content.Losses, name)
				messages += content.messages()
			}
			assert.Equal(t, 5, messages, "%s to byte %d", name, end)
			if lines {
				end++
			}
		}
		if middle := len(file) / 2; strings.Contains(name, "native") {
			content, err := readAll(append(packed(file[:middle]), packed(file[middle:])...))
			require.NoError(t, err, name)
			assert.Equal(t, 5, content.messages(), name)
		}
	}
}

// TestEmptyMessages: a pipeline may export messages without data, which have no bytes.
func TestEmptyMessages(t *testing.T) {
	files := exporterFiles(t)
	for name, empty := range map[string]string{"file-exporter-json.out": "{}\n", "file-exporter-proto.out": "\x00\x00\x00\x00"} {
		content, err := readAll(append([]byte(empty), files[name]...))
		require.NoError(t, err, name)
		assert.Len(t, content.Traces, 1)
	}
}

// TestDialects reads all versions of OTLP that the dialect extension knows, alone and in a file.
func TestDialects(t *testing.T) {
	folder := filepath.Join(golden.Root(t), "internal/profiles/dialect/testdata")
	read := 0
	for _, version := range []string{"otlp-1.7", "otlp-1.8", "otlp-1.9"} {
		found, err := filepath.Glob(filepath.Join(folder, version, "*.pb"))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		for _, name := range found {
			message, err := os.ReadFile(name)
			require.NoError(t, err)
			alone, err := readAll(message)
			if err != nil { // see docs/dialects.md
				assert.ErrorContains(t, err, "update the producer", name)
				continue
			}
			read++
			if filepath.Base(name) != "timestamps.pb" { // valid in both
				assert.Equal(t, 1, alone.Older, name)
			}
			framed := append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
			file, err := readAll(append(framed, framed...))
			require.NoError(t, err, name)
			require.Len(t, file.Profiles, 2)
			assert.Empty(t, dictionarytest.Diff(alone.Profiles[0], file.Profiles[1]), name)
		}
	}
	assert.GreaterOrEqual(t, read, 9)
}

// TestOldJSON names the version of profiles in JSON that cannot be translated.
func TestOldJSON(t *testing.T) {
	const profiles = `{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sampleType":%s,"sample":[{"stackIndex":1,"values":["5"]}]}]}]}],"dictionary":{"stringTable":["","samples"]}}`
	for version, sampleType := range map[string]string{"OTLP 1.7 ": `[{"typeStrindex":1}]`, "OTLP 1.8 ": `{"typeStrindex":1}`} {
		_, err := readAll(fmt.Appendf(nil, profiles, sampleType))
		assert.ErrorContains(t, err, version)
		assert.ErrorContains(t, err, "update the producer")
	}
}

// TestSignals distinguishes messages without the fields that most producers write.
func TestSignals(t *testing.T) {
	traces, logs, metrics := ptrace.NewTraces(), plog.NewLogs(), pmetric.NewMetrics()
	span := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID([16]byte{1})
	span.SetSpanID([8]byte{1})
	span.SetName("s")
	span.SetStartTimestamp(1)
	logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr("without a time")
	metric := metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	metric.SetName("sixteen.letters.")
	metric.SetEmptyGauge().DataPoints().AppendEmpty().SetIntValue(1)
	encodedTraces, err := new(ptrace.ProtoMarshaler).MarshalTraces(traces)
	require.NoError(t, err)
	encodedLogs, err := new(plog.ProtoMarshaler).MarshalLogs(logs)
	require.NoError(t, err)
	encodedMetrics, err := new(pmetric.ProtoMarshaler).MarshalMetrics(metrics)
	require.NoError(t, err)
	assert.Equal(t, signalTraces, signalOf(encodedTraces))
	assert.Equal(t, signalLogs, signalOf(encodedLogs))
	assert.Equal(t, signalMetrics, signalOf(encodedMetrics))
}
