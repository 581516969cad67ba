// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// ways are the ways of errors to a server.
var ways = []string{
	"direct",  // from Sentry's SDK
	"through", // from Sentry's SDK through the receiver and the exporter
	"otel",    // from OpenTelemetry's SDK through the exporter
}

// TestBugsink: a real server creates the same issues from errors of all ways: types, values, frames
// and groups are equal.
func TestBugsink(t *testing.T) {
	var projects []string
	for _, p := range pairs {
		for _, way := range ways {
			projects = append(projects, p.folder+" "+way)
		}
	}
	server := harness.StartBugsink(t, projects...)
	only := strings.Fields(os.Getenv("SDKS"))
	for i, p := range pairs {
		if len(only) > 0 && !slices.Contains(only, p.folder) {
			continue
		}
		t.Run(p.folder, func(t *testing.T) {
			if reason := (sdk{folder: p.folder, version: "otel"}).missing(t); reason != "" {
				t.Skip(reason)
			}
			compareIssues(t, p, server, failInEachWay(t, p, server.DSNs[i*len(ways):]))
		})
	}
}

// rounds is how often a program runs, so that each issue has several events.
const rounds = 2

// failInEachWay runs the programs of a pair, and returns the number of failures per round.
func failInEachWay(t *testing.T, p pair, dsns []string) (n int) {
	otlp := harness.FreeAddress(t)
	c := harness.Start(t, harness.Settings{Config: strings.NewReplacer("ADDRESS", otlp, "THROUGH", dsns[1], "OTEL", dsns[2]).Replace(`
receivers:
  sentry: {endpoint: ENDPOINT}
  otlp: {protocols: {http: {endpoint: 'ADDRESS'}}}
exporters:
  sentry_envelope/through: {dsn: THROUGH}
  sentry_envelope/otel: {dsn: OTEL, errors: {from_spans: all}}
service:
  pipelines:
    logs: {receivers: [sentry], exporters: [sentry_envelope/through]}
    traces: {receivers: [otlp], exporters: [sentry_envelope/otel]}
`)})
	for range rounds {
		n = fail(t, p, "SENTRY_DSN="+dsns[0], "sentry", "spans")
		require.Equal(t, n, fail(t, p, "SENTRY_DSN=http://key@"+c.Address+"/1", "sentry", "spans"))
		require.Equal(t, n, fail(t, p, "OTLP=http://"+otlp, "otel", "spans"))
	}
	return n
}

// issue is an issue of the server without IDs and times.
type issue struct {
	class   string
	groups  []string
	events  int
	failure []exception
}

// compareIssues compares the n issues of each way.
func compareIssues(t *testing.T, p pair, server *harness.Bugsink, n int) {
	want := issuesOf(t, server, p.folder+" "+ways[0], n)
	require.Len(t, want, n)
	assert.Equal(t, want, issuesOf(t, server, p.folder+" "+ways[1], n), ways[1])
	got := issuesOf(t, server, p.folder+" "+ways[2], n)
	require.Len(t, got, n)
	for value, issue := range want {
		issue.failure = p.allowed("spans", value, issue.failure)
		assert.Equal(t, issue, got[value], value)
	}
}

// issuesOf waits for n issues of a project, and returns them by value.
func issuesOf(t *testing.T, server *harness.Bugsink, project string, n int) (issues map[string]issue) {
	events := 0
	for deadline := time.Now().Add(time.Minute); events < n*rounds && time.Now().Before(deadline); {
		issues, events = map[string]issue{}, 0
		for _, i := range server.Issues(t, project) {
			list := issue{class: i.Type, groups: i.Groups, events: len(i.Events), failure: exceptionsOf(t, i.Events[0])}
			for _, event := range i.Events[1:] {
				assert.Equal(t, list.failure, exceptionsOf(t, event), "events of one issue")
			}
			issues[i.Value] = list
			events += len(i.Events)
		}
	}
	return issues
}
