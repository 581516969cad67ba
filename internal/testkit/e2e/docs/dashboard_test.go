// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

var (
	labelGroup   = regexp.MustCompile(`\bby \(([^)]*)\)`)
	labelMatch   = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)"`)
	labelLegend  = regexp.MustCompile(`\{\{(\w+)\}\}`)
	labelName    = regexp.MustCompile(`\w+`)
	histogramEnd = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// TestDashboard: every metric in a query of the Grafana dashboard or of an alert exists and has the
// labels of the query, and every metric of our components is on the dashboard.
func TestDashboard(t *testing.T) {
	known := componentMetrics(t)
	ours := maps.Clone(known)
	for name, labels := range collectorMetrics(t) {
		if known[name] == nil {
			known[name] = labels
		}
	}
	for _, alert := range alerts(t) {
		checkQuery(t, known, dashboardQuery{Expr: alert.Expr})
	}
	shown := map[string]bool{}
	for _, query := range dashboardQueries(t) {
		for _, name := range checkQuery(t, known, query) {
			shown[name] = true
		}
	}
	for name := range ours {
		assert.True(t, shown[name], "%s is not on the dashboard", name)
	}
}

// checkQuery checks the metrics and labels of a query, and returns the metrics.
func checkQuery(t *testing.T, known map[string]map[string]bool, query dashboardQuery) []string {
	names := metricName.FindAllString(query.Expr, -1)
	require.NotEmpty(t, names, query.Expr)
	labels := map[string]bool{"job": true, "instance": true} // added by Prometheus
	for i, name := range names {
		if known[name] == nil {
			names[i] = histogramEnd.ReplaceAllString(name, "")
			labels["le"] = true
		}
		assert.NotNil(t, known[names[i]], "%s is in a query and nowhere else", name)
		maps.Copy(labels, known[names[i]])
	}
	for _, label := range query.labels() {
		assert.True(t, labels[label], "label %s of %s", label, query.Expr)
	}
	return names
}

type dashboardQuery struct {
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat"`
}

// labels returns the labels by which a query groups and matches, and those in its legend.
func (q dashboardQuery) labels() (all []string) {
	for _, group := range labelGroup.FindAllStringSubmatch(q.Expr, -1) {
		all = append(all, labelName.FindAllString(group[1], -1)...)
	}
	for _, match := range append(labelMatch.FindAllStringSubmatch(q.Expr, -1), labelLegend.FindAllStringSubmatch(q.LegendFormat, -1)...) {
		all = append(all, match[1])
	}
	return all
}

func dashboardQueries(t *testing.T) (all []dashboardQuery) {
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "packaging", "grafana-dashboard.json"))
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Targets []dashboardQuery `json:"targets"`
		} `json:"panels"`
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	for _, panel := range dashboard.Panels {
		all = append(all, panel.Targets...)
	}
	require.Greater(t, len(all), 30)
	return all
}

// componentMetrics returns the labels of our components' metrics, by Prometheus name.
func componentMetrics(t *testing.T) map[string]map[string]bool {
	pages, err := filepath.Glob(filepath.Join(golden.Root(t), "*", "metadata.yaml"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(pages), 4)
	all := map[string]map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		var metadata struct {
			Telemetry struct {
				Metrics map[string]struct {
					Attributes []string `yaml:"attributes"`
				} `yaml:"metrics"`
			} `yaml:"telemetry"`
		}
		require.NoError(t, yaml.Unmarshal(text, &metadata))
		for name, metric := range metadata.Telemetry.Metrics {
			labels := map[string]bool{}
			for _, attribute := range metric.Attributes {
				labels[attribute] = true
			}
			all["otelcol_"+name] = labels
		}
	}
	return all
}

// collectorMetrics returns the own metrics of a collector that has sent data of every signal, and
// failed to.
func collectorMetrics(t *testing.T) map[string]map[string]bool {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend, Queue: true, Signals: harness.OtherSignals})
	sent := func() int {
		all := 0
		for _, signal := range []string{"profile_samples", "spans", "log_records", "metric_points"} {
			for _, metric := range []string{"otelcol_exporter_sent_", "otelcol_exporter_send_failed_"} {
				all += c.Scrape(t).Sum(metric + signal)
			}
		}
		return all
	}
	for _, answer := range []int{0, http.StatusBadRequest} {
		backend.Respond(answer)
		before := sent()
		for _, r := range []harness.Request{
			harness.Chunk{}.Request(),
			harness.ItemRequest("transaction", `{"start_timestamp":1,"timestamp":2,"contexts":{"trace":`+
				`{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6071"}}}`),
			harness.ItemRequest("event", `{"message":"hello"}`),
			harness.ItemRequest("client_report", `{"timestamp":1700000000,"discarded_events":[{"reason":"queue_overflow","category":"error","quantity":3}]}`),
		} {
			require.Equal(t, http.StatusOK, c.Send(t, r).Status)
		}
		require.Eventually(t, func() bool { return sent() >= before+4 }, 30*time.Second, 20*time.Millisecond)
	}
	all := map[string]map[string]bool{}
	for _, p := range c.Scrape(t) {
		if all[p.Name] == nil {
			all[p.Name] = map[string]bool{}
		}
		for label := range p.Labels {
			all[p.Name][label] = true
		}
	}
	return all
}

// TestChangelog: the changelog has a section for the version that is built.
func TestChangelog(t *testing.T) {
	root := golden.Root(t)
	notes, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "builder-config.yaml"))
	require.NoError(t, err)
	var builder struct {
		Dist struct {
			Version string `yaml:"version"`
		} `yaml:"dist"`
	}
	require.NoError(t, yaml.Unmarshal(text, &builder))
	latest := regexp.MustCompile(`(?m)^## ([\d.]+)`).FindSubmatch(notes)
	require.NotNil(t, latest)
	assert.Equal(t, builder.Dist.Version, string(latest[1]))
}
