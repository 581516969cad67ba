// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bugsinkFolder is relative to the folder of a test, next to this package.
const bugsinkFolder = "../tee/python"

// Bugsink is a real server that is compatible with Sentry (PyPI: bugsink).
type Bugsink struct {
	Address string
	DSNs    []string // one for each project
	Python  string   // interpreter with Sentry's SDK

	folder string
}

// BugsinkIssue is an issue as the server stores it.
type BugsinkIssue struct {
	Project, Type, Value string
	Groups               []string          // keys by which the server grouped the events
	Events               []json.RawMessage // oldest first
}

// StartBugsink starts a server with projects. It skips the test if the server is not installed.
func StartBugsink(t *testing.T, projects ...string) *Bugsink {
	python, err := filepath.Abs(filepath.Join(bugsinkFolder, "installed/bugsink/bin/python"))
	require.NoError(t, err)
	if _, err := os.Stat(python); err != nil {
		Missing(t, "bugsink", "internal/testkit/e2e/tee/python/install installs it")
	}
	b := &Bugsink{Address: FreeAddress(t), Python: python, folder: t.TempDir()}
	_, port, err := net.SplitHostPort(b.Address)
	require.NoError(t, err)
	b.server(t, &b.DSNs, append([]string{"setup", port}, projects...)...)

	server := exec.Command(python, "-m", "gunicorn", "bugsink.wsgi", "--bind", b.Address, "--workers", "1")
	server.Dir = b.folder
	server.Env = append(os.Environ(), "DJANGO_SETTINGS_MODULE=bugsink_conf")
	var log LogBuffer
	server.Stderr = &log
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	require.Eventually(t, func() bool {
		resp, err := http.Get("http://" + b.Address + "/accounts/login/")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	}, 2*time.Minute, 100*time.Millisecond, "bugsink answers\n%s", log.Tail())
	return b
}

// Issues returns the issues of a project, ordered by type and value.
func (b *Bugsink) Issues(t *testing.T, project string) (issues []BugsinkIssue) {
	var all []BugsinkIssue
	b.server(t, &all, "issues")
	for _, issue := range all {
		if issue.Project == project {
			issues = append(issues, issue)
		}
	}
	return issues
}

// server runs a command of server.py and decodes its output.
func (b *Bugsink) server(t *testing.T, result any, arguments ...string) {
	script, err := filepath.Abs(filepath.Join(bugsinkFolder, "server.py"))
	require.NoError(t, err)
	command := exec.Command(b.Python, append([]string{script}, arguments...)...)
	command.Dir, command.Stderr = b.folder, os.Stderr
	output, err := command.Output()
	require.NoError(t, err, "%s", output)
	require.NoError(t, json.Unmarshal(output, result), "%s", output)
}
