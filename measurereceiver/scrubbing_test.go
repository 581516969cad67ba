// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/planted"
)

// TestPlantedSecrets: no secret in a recorded batch leaves by any signal.
func TestPlantedSecrets(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(golden.Root(t), "testdata", "measure", "*", "in.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	total, without := 0, 0
	for _, file := range files {
		for turn := range 1 + planted.Classes {
			p := &planted.Planter{Secrets: map[string]string{}, Member: turn == 0, Turn: turn}
			body := plantBatch(t, p, file)
			total += len(p.Secrets)
			for leak, place := range leaks(t, p, body, scrub.DefaultConfig()) {
				t.Errorf("%s: a secret at %s leaves:\n%s", filepath.Base(filepath.Dir(file)), place, leak)
			}
			without += len(leaks(t, p, body, scrub.Config{}))
		}
	}
	t.Logf("%d secrets planted; %d leave without scrubbing", total, without)
	assert.Greater(t, without, 100, "the secrets are in places that are translated")
}

func plantBatch(t *testing.T, p *planted.Planter, file string) []byte {
	body, err := os.ReadFile(file)
	require.NoError(t, err)
	var batch map[string]any
	require.NoError(t, json.Unmarshal(body, &batch))
	for kind, list := range batch {
		for _, element := range list.([]any) {
			p.Plant(element, kind)
		}
	}
	body, err = json.Marshal(batch)
	require.NoError(t, err)
	return body
}

// leaks returns the lines of the output that contain a secret.
func leaks(t *testing.T, p *planted.Planter, body []byte, scrubbing scrub.Config) map[string]string {
	h := start(t, nopHost, func(cfg *Config) { cfg.Scrubbing, cfg.IncludeHTTPBodies = scrubbing, true })
	h.events(uuid.NewString(), string(body))
	var lines []string
	for _, dump := range h.sink.dumps {
		lines = append(lines, strings.Split(dump, "\n")...)
	}
	return p.Leaks(lines)
}

// TestNamesOfUploads: the name of a file loses a secret in it.
func TestNamesOfUploads(t *testing.T) {
	h := start(t, nopHost, nil)
	h.events(batchID, strings.Replace(goodBatch, "a.webp", "token=hush 4111 1111 1111 1111.webp", 1))
	text := strings.Join(h.sink.dumps, "\n")
	assert.NotContains(t, text, "hush")
	assert.NotContains(t, text, "4111 1111")
	assert.Contains(t, text, "token=[Filtered] [Filtered].webp")
}

// TestScrubbedCorpus compares what scrubbing changes in the recorded batches of Measure's SDKs with
// a list that was reviewed line by line: no ID, hash, version or name of a file.
func TestScrubbedCorpus(t *testing.T) {
	var dumps [2][]string
	for i, scrubbing := range []scrub.Config{{}, scrub.DefaultConfig()} {
		h := start(t, nopHost, func(cfg *Config) { cfg.Scrubbing, cfg.IncludeHTTPBodies = scrubbing, true })
		for _, request := range golden.MeasureCorpus(t) {
			h.events(request.ID, string(request.Body))
		}
		dumps[i] = h.sink.dumps
	}
	require.NotEmpty(t, dumps[0])
	require.Len(t, dumps[1], len(dumps[0]))
	changes := slices.DeleteFunc(planted.Changes(dumps[0], dumps[1]), func(line string) bool { return strings.HasPrefix(line, "observed") }) // times of the test
	list, err := os.ReadFile("testdata/scrubbed.txt")
	require.NoError(t, err)
	assert.Equal(t, string(list), strings.Join(changes, "\n")+"\n")
}
