// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// slowPrograms are web servers, each with a slow function, a slow query and a lock.
var slowPrograms = []struct {
	sdk
	service string
	causes  []string // parts of the rows that name them
}{
	{sdk{folder: "python", version: "flask"}, "slow-flask", []string{"price_report", "FROM orders", "reserve_stock"}},
	{sdk{folder: "node", version: "11.1.0"}, "slow-node", []string{"priceReport", "SELECT orders", "reserveStock"}},
	{sdk{folder: "spring", version: "8.43.0"}, "slow-spring", []string{"priceReport", "FROM orders", "reserveStock"}},
}

// TestSlow: the first view of a service names the slow function, the slow query and the lock in its
// first three rows.
func TestSlow(t *testing.T) {
	node := harness.Tool(t, "node", "install Node.js 24, https://nodejs.org")
	chromium := harness.Tool(t, "chromium", harness.Debian+"chromium")
	driver, err := filepath.Abs("../browser")
	require.NoError(t, err)
	harness.File(t, "npm packages of the browser tests", filepath.Join(driver, "node_modules"), harness.Packages)
	page := harness.FreeAddress(t)
	c := harness.Start(t, harness.Settings{Config: strings.ReplaceAll(`
receivers:
  sentry: {endpoint: ENDPOINT}
processors:
  profile_transform: {link: {wait: 2s}}
exporters:
  profile_viewer: {endpoint: 'PAGE'}
service:
  pipelines:
    profiles: {receivers: [sentry], processors: [profile_transform], exporters: [profile_viewer]}
    traces: {receivers: [sentry], processors: [profile_transform], exporters: [profile_viewer]}
    logs: {receivers: [sentry], exporters: [profile_viewer]}
`, "PAGE", page)})
	only := strings.Fields(os.Getenv("SDKS"))
	for _, p := range slowPrograms {
		if len(only) > 0 && !slices.Contains(only, p.folder) {
			continue
		}
		t.Run(p.service, func(t *testing.T) {
			if reason := p.missing(t); reason != "" {
				t.Skip(reason)
			}
			p.serve(t, "http://"+harness.TestKey+"@"+c.Address+"/1")
		})
	}
	require.Eventually(t, func() bool {
		const metric = "otelcol_processor_profile_transform_"
		metrics := c.Scrape(t)
		return metrics.Sum(metric+"incoming_profiles") == metrics.Sum(metric+"outgoing_profiles")
	}, time.Minute, 50*time.Millisecond)

	drive := exec.Command(node, "drive.mjs", chromium)
	drive.Dir, drive.Stderr = driver, os.Stderr
	drive.Stdin = strings.NewReader(fmt.Sprintf("{\"id\":1,\"scenario\":\"./viewer-slow.mjs\",\"url\":\"http://%s/\"}\n", page))
	output, err := drive.Output()
	require.NoError(t, err)
	var report struct {
		Failure string
		Errors  []string
		Result  struct {
			Findings []string
			Views    map[string][]string
		}
	}
	require.NoError(t, json.Unmarshal(output, &report), "%s", output)
	require.Empty(t, report.Failure)
	assert.Empty(t, report.Errors)
	assert.Empty(t, report.Result.Findings)
	for _, p := range slowPrograms {
		rows, seen := report.Result.Views[p.service]
		if !seen {
			continue
		}
		t.Logf("%s:\n%s", p.service, strings.Join(rows, "\n"))
		first := strings.Join(rows[:min(3, len(rows))], "\n")
		for _, cause := range p.causes {
			assert.Contains(t, first, cause, p.service)
		}
	}
}

// serve runs a program while it handles requests, some at the same time.
func (s sdk) serve(t *testing.T, dsn string) {
	command := exec.Command("sh", "run", s.version, "slow")
	command.Dir = s.path(t)
	command.Env = append(os.Environ(), "SENTRY_DSN="+dsn)
	var stderr harness.LogBuffer
	command.Stderr, command.WaitDelay = &stderr, time.Second
	input, err := command.StdinPipe()
	require.NoError(t, err)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	timer := time.AfterFunc(workloadTimeout, func() { _ = command.Process.Kill() })
	defer timer.Stop()
	lines := bufio.NewReader(output)
	port, err := lines.ReadString('\n')
	require.NoError(t, err, "%s", stderr.Tail())
	get := func(path string) {
		response, err := http.Get("http://127.0.0.1:" + strings.TrimSpace(port) + path)
		if assert.NoError(t, err, "%s", stderr.Tail()) {
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			assert.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", path, stderr.Tail())
		}
	}
	for round := range 8 {
		get(fmt.Sprint("/report/", round))
		get(fmt.Sprint("/orders/", 1+round%3))
		var users sync.WaitGroup
		for user := range 6 {
			users.Go(func() { get(fmt.Sprint("/cart/", 10*round+user)) })
		}
		users.Wait()
	}
	require.NoError(t, input.Close())
	_, _ = io.Copy(io.Discard, lines)
	require.NoError(t, command.Wait(), "%s", stderr.Tail())
}
