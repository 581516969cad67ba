// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// measureConfig is a configuration with a Measure receiver that stores batch IDs and files.
func measureConfig(address, folder string) string {
	return fmt.Sprintf(`
extensions:
  file_storage: {directory: %[2]s/storage, create_directory: true}
receivers:
  sentry: {endpoint: ENDPOINT} # whose health check says that the collector is up
  measure:
    endpoint: %[1]s
    apps: [{api_key: e2e-key, environment: test}]
    dedup: {storage: file_storage}
    attachments: {directory: %[2]s/attachments, token_secret: e2e-secret}
exporters:
  nop:
  file/logs: {path: %[2]s/logs.jsonl, append: true}
  file/traces: {path: %[2]s/traces.jsonl, append: true}
  file/metrics: {path: %[2]s/metrics.jsonl, append: true}
service:
  extensions: [file_storage]
  pipelines:
    profiles: {receivers: [sentry], exporters: [nop]}
    logs: {receivers: [measure], exporters: [file/logs]}
    traces: {receivers: [measure], exporters: [file/traces]}
    metrics: {receivers: [measure], exporters: [file/metrics]}
`, address, folder)
}

// TestMeasureCorpus sends every recorded batch to the built collector as its SDK would, and uploads
// the files to the returned addresses. Then it restarts the collector and sends everything again.
// The output contains everything exactly once: each event and span as a record, a span or data
// points with its time, and each file byte for byte.
func TestMeasureCorpus(t *testing.T) {
	requests := golden.MeasureCorpus(t)
	folder, address := t.TempDir(), harness.FreeAddress(t)
	s := harness.Settings{Config: measureConfig(address, folder)}
	first := harness.Start(t, s)
	want := measureTally{files: map[string][]byte{}}
	for _, request := range requests {
		want.read(t, request)
		for _, upload := range putMeasureBatch(t, address, request) {
			if content := request.Blobs[upload.ID]; content != nil {
				status, answer := harness.Put(t, upload.URL, content, upload.Headers)
				require.Equal(t, http.StatusOK, status, answer)
				want.files[upload.ID] = content
			}
		}
	}
	metrics := first.Scrape(t)
	assert.Equal(t, want.records+want.spans+want.measured, metrics.Sum("otelcol_receiver_measure_items", "outcome=accepted"))
	assert.Equal(t, want.records+want.spans+want.measured, metrics.Sum("otelcol_receiver_measure_items"), "nothing lost")
	assert.Zero(t, metrics.Sum("otelcol_receiver_measure_requests_rejected"))
	first.Stop(t)

	second := harness.Start(t, s)
	for _, request := range requests {
		putMeasureBatch(t, address, request)
	}
	assert.Equal(t, len(requests), second.Scrape(t).Sum("otelcol_receiver_measure_batches_repeated", "state=known"))
	second.Stop(t)

	described := countLines(t, folder+"/logs.jsonl", `"eventName":"measure.attachment"`)
	assert.Equal(t, want.records, countLines(t, folder+"/logs.jsonl", `"observedTimeUnixNano"`)-described)
	assert.Equal(t, want.spans, countLines(t, folder+"/traces.jsonl", `"spanId"`))
	assert.Equal(t, want.utilization, pointsOf(t, folder+"/metrics.jsonl", "process.cpu.utilization"))
	assert.Equal(t, want.memory, pointsOf(t, folder+"/metrics.jsonl", "process.memory.usage"))
	found := filesBelow(t, folder+"/attachments")
	for id, content := range want.files {
		assert.True(t, bytes.Equal(content, found[id]), id)
	}
	assert.Len(t, found, described, "a record for each file")
	assert.Equal(t, len(want.files)+want.inline, described)
	t.Logf("%d batches; %d records, %d spans, %d CPU and %d memory events; %d files uploaded, %d inside batches", len(requests),
		want.records, want.spans, want.utilization, want.memory, len(want.files), want.inline)
}

// measureTally is the expected output, computed by a decoder that knows only three names of
// Measure's types.
type measureTally struct {
	records, spans, measured int
	utilization, memory      int
	inline                   int
	files                    map[string][]byte
}

func (m *measureTally) read(t *testing.T, request golden.MeasureRequest) {
	var batch struct {
		Events []struct {
			Type        string
			Attachments []struct{ Bytes string }
		}
		Spans []any
	}
	require.NoError(t, json.Unmarshal(request.Body, &batch))
	m.spans += len(batch.Spans)
	for _, event := range batch.Events {
		switch event.Type {
		case "http":
			m.spans++
		case "cpu_usage":
			m.utilization++
			m.measured++
		case "memory_usage", "memory_usage_absolute":
			m.memory++
			m.measured++
		default:
			m.records++
		}
		for _, attachment := range event.Attachments {
			if attachment.Bytes != "" {
				m.inline++
			}
		}
	}
}

// putMeasureBatch sends a batch as iOS does, and parses the response as iOS does: every member is a
// list of uploads.
func putMeasureBatch(t *testing.T, address string, request golden.MeasureRequest) []harness.MeasureUpload {
	t.Helper()
	status, text := harness.Put(t, "http://"+address+"/events", request.Body, map[string]string{
		"Authorization": "Bearer e2e-key", "msr-req-id": request.ID, "Content-Type": "application/json",
	})
	require.Equal(t, http.StatusOK, status, "%s: %s", request.Name, text)
	var answer map[string][]harness.MeasureUpload
	require.NoError(t, json.Unmarshal([]byte(text), &answer), text)
	return answer["attachments"]
}

// countLines returns the number of occurrences of a text in the output of a file exporter.
func countLines(t *testing.T, path, text string) int {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.Count(string(content), text)
}

// pointsOf returns the number of data points of a metric, with encoding/json.
func pointsOf(t *testing.T, path, name string) (n int) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var message struct {
			ResourceMetrics []struct {
				ScopeMetrics []struct {
					Metrics []struct {
						Name       string
						Sum, Gauge struct{ DataPoints []any }
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &message))
		for _, resource := range message.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, metric := range scope.Metrics {
					if metric.Name == name {
						n += len(metric.Sum.DataPoints) + len(metric.Gauge.DataPoints)
					}
				}
			}
		}
	}
	require.NoError(t, lines.Err())
	return n
}

func filesBelow(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			all[entry.Name()], err = os.ReadFile(path)
		}
		return err
	}))
	return all
}
