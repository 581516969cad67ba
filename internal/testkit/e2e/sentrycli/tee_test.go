// SPDX-License-Identifier: Apache-2.0

package sentrycli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// started matches the time at which the tool was started.
var started = regexp.MustCompile(`\d{4}-\d\d-\d\dT[^"]*`)

// TestManagementAPI: sentry-cli creates a release through the tee's /api/0/ with its own token, as
// without the tee.
func TestManagementAPI(t *testing.T) {
	tool := findSentryCLI(t)
	var mu sync.Mutex
	var requests []string
	sentry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		requests = append(requests, r.Method+" "+r.RequestURI+" "+r.Header.Get("Authorization")+" "+started.ReplaceAllString(string(body), "now"))
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"version":"shop@1.2","projects":[{"slug":"p","name":"p"}],"dateCreated":"2026-05-01T10:00:00Z","newGroups":0}`)
	}))
	t.Cleanup(sentry.Close)
	start := func(option string) *harness.Collector {
		return harness.Start(t, harness.Settings{Config: `
receivers:
  sentry: {endpoint: ENDPOINT, middlewares: [{id: sentry_tee}]}
exporters:
  nop:
extensions:
  sentry_tee: {upstream: '` + sentry.URL + `'` + option + `}
service:
  extensions: [sentry_tee]
  pipelines:
    logs: {receivers: [sentry], exporters: [nop]}
`})
	}
	run := func(url string) (asked []string, output string, err error) {
		command := exec.Command(tool, "--url", url, "--auth-token", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "releases", "--org", "o", "--project", "p", "new", "shop@1.2")
		command.Dir = t.TempDir()
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + command.Dir}
		text, err := command.CombinedOutput()
		mu.Lock()
		defer mu.Unlock()
		asked, requests = requests, nil
		return asked, string(text), err
	}
	direct, output, err := run(sentry.URL)
	require.NoError(t, err, "%s", output)
	require.True(t, slices.ContainsFunc(direct, func(r string) bool { return strings.HasPrefix(r, "POST /api/0/") && strings.Contains(r, "Bearer ") }), "%q", direct)

	through, output, err := run("http://" + start(", management_api: true").Address)
	require.NoError(t, err, "%s", output)
	assert.Equal(t, direct, through)

	none, output, err := run("http://" + start("").Address)
	assert.Error(t, err, "%s", output)
	assert.Empty(t, none, "an option")
}
