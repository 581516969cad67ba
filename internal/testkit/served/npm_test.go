// SPDX-License-Identifier: Apache-2.0

package served

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

var install = regexp.MustCompile(`(?m)^npm (install @sentry/node@(\S+) @sentry/profiling-node@(\S+))$`)

// TestNodeProfiler: the command of docs/sdks.md installs Sentry's SDK for Node and its profiler in
// one version, which `make sdks` tests, so that they share a copy of @sentry/core. With two copies,
// spans name no profiler session.
func TestNodeProfiler(t *testing.T) {
	root := golden.Root(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "sdks.md"))
	require.NoError(t, err)
	command := install.FindStringSubmatch(string(page))
	require.NotNil(t, command, "npm install of docs/sdks.md")
	version := command[2]
	require.Equal(t, version, command[3])
	assert.FileExists(t, filepath.Join(root, "internal/testkit/e2e/sdks/node", version, "package.json"))

	testsize.NeedFull(t)
	folder := t.TempDir()
	npm(t, folder, append(strings.Fields(command[1]), "--package-lock-only", "--ignore-scripts")...)
	text, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	require.NoError(t, err)
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	require.NoError(t, json.Unmarshal(text, &lock))
	copies := map[string]string{}
	for path, installed := range lock.Packages {
		if _, name, _ := strings.Cut(path, "node_modules/@sentry/"); name != "" && regexp.MustCompile(`(^|/)(core|node|profiling-node)$`).MatchString(name) {
			copies[name] = installed.Version
		}
	}
	assert.Equal(t, map[string]string{"core": version, "node": version, "profiling-node": version}, copies)

	if newest := npm(t, folder, "view", "@sentry/profiling-node", "version"); newest != version {
		t.Skipf("served: @sentry/profiling-node %s; update the command in docs/sdks.md", newest)
	}
}

// npm runs a command of npm, and returns its output. Without npm or its registry, the test is
// skipped.
func npm(t *testing.T, folder string, arguments ...string) string {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("no npm here")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, "npm", append(arguments, "--fetch-retries=0", "--no-audit", "--no-fund")...)
	run.Dir = folder
	run.WaitDelay = time.Second
	output, err := run.Output()
	if err != nil {
		t.Skipf("npm's registry does not answer: %v", err)
	}
	return strings.TrimSpace(string(output))
}
