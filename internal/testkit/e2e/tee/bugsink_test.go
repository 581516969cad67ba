// SPDX-License-Identifier: Apache-2.0

package tee

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestBugsink: Sentry's Python SDK produces the same issues in a real server with and without the tee.
func TestBugsink(t *testing.T) {
	python, err := filepath.Abs("python/installed/bugsink/bin/python")
	require.NoError(t, err)
	scripts, err := filepath.Abs("python")
	require.NoError(t, err)
	if _, err := os.Stat(python); err != nil {
		t.Skip("bugsink is not installed: see python/install")
	}
	folder := t.TempDir()
	run := func(dsn string, arguments ...string) string {
		command := exec.Command(python, arguments...)
		command.Dir = folder
		command.Env = append(os.Environ(), "SENTRY_DSN="+dsn)
		command.Stderr = os.Stderr
		output, err := command.Output()
		require.NoError(t, err, "%s", output)
		return string(output)
	}
	address := harness.FreeAddress(t)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	var dsns []string
	require.NoError(t, json.Unmarshal([]byte(run("", filepath.Join(scripts, "server.py"), "setup", port)), &dsns))

	server := exec.Command(python, "-m", "gunicorn", "bugsink.wsgi", "--bind", address, "--workers", "1")
	server.Dir = folder
	server.Env = append(os.Environ(), "DJANGO_SETTINGS_MODULE=bugsink_conf")
	var log harness.LogBuffer
	server.Stderr = &log
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	require.Eventually(t, func() bool {
		resp, err := http.Get("http://" + address + "/accounts/login/")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	}, 2*time.Minute, 100*time.Millisecond, "bugsink answers\n%s", log.Tail())

	c := harness.Start(t, settings(harness.NewSink(t), "upstream: 'http://"+address+"'"))
	run(dsns[0], filepath.Join(scripts, "errors.py"))
	run(strings.Replace(dsns[1], address, c.Address, 1), filepath.Join(scripts, "errors.py"))

	issues := func(project float64) (issues [][]any) {
		var all [][]any
		require.NoError(t, json.Unmarshal([]byte(run("", filepath.Join(scripts, "server.py"), "issues")), &all))
		for _, issue := range all {
			if issue[0] == project {
				issues = append(issues, issue[1:])
			}
		}
		return issues
	}
	direct := issues(1)
	t.Logf("issues: %v", direct)
	require.Len(t, direct, 3)
	var through [][]any
	for range 5 { // the tee forwards after it has responded
		if through = issues(2); len(through) == len(direct) {
			break
		}
	}
	assert.Equal(t, direct, through)
}
