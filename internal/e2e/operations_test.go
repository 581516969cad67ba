package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/otelcol-sentry/otelcol-sentry/internal/golden"
)

var metricName = regexp.MustCompile(`\botelcol_\w+`)

// TestOperationsPage: every metric that docs/operations.md names is in the scrape of a collector to which things have
// happened, with every label that its alerts use; and the alerts are YAML.
func TestOperationsPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "operations.md"))
	require.NoError(t, err)
	names := metricName.FindAllString(string(text), -1)
	require.Greater(t, len(names), 15)

	backend := newSink(t)
	c := start(t, settings{sink: backend, queue: true})
	c.send(t, chunk{}.request())
	c.send(t, envelope(nil))
	c.send(t, envelopeOf("profile_chunk", `{"version":"2","release":7,"profile":{"frames":[{}],"stacks":[[0]],"samples":[`+
		`{"timestamp":1,"thread_id":"1","stack_id":0},{"timestamp":1,"thread_id":"1","stack_id":7}]}}`))
	scraped := c.scrape(t)
	known := map[string]bool{"otelcol_receiver_accepted_spans": true, "otelcol_receiver_refused_spans": true} // as those of samples
	require.Contains(t, scrapedNames(scraped), "otelcol_receiver_accepted_profile_samples")
	for name := range scrapedNames(scraped) {
		known[name] = true
	}
	// Elements are only in items that there is no pipeline for here; the page of the receiver has them.
	known["otelcol_receiver_sentry_elements_discarded"] = true
	for _, name := range names {
		assert.True(t, known[name], "%s is in docs/operations.md and not in the scrape", name)
	}
	for _, p := range scraped {
		if p.name == "otelcol_receiver_sentry_items" {
			for _, label := range []string{"outcome", "project", "sdk", "sdk_version", "type"} {
				assert.NotEmpty(t, p.labels[label], label)
			}
		}
	}

	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1) {
		var parsed map[string]any
		require.NoError(t, yaml.Unmarshal(block[1], &parsed), "%s", block[1])
		if _, isConfig := parsed["receivers"]; isConfig {
			again := start(t, settings{sink: backend, receiver: []string{"drop_resent: {max_ids: 100000, max_age: 24h}"}})
			r := chunk{}.request()
			for range 2 {
				assert.Equal(t, http.StatusOK, again.send(t, r).status)
			}
			assert.Equal(t, 1, again.scrape(t).sum("otelcol_receiver_sentry_items", "reason=resent"), "what the page promises")
		}
	}
}

func scrapedNames(all points) map[string]bool {
	names := map[string]bool{}
	for _, p := range all {
		names[p.name] = true
	}
	return names
}
