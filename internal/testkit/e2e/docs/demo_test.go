// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestDemo runs `make demo`. Every recording arrives with current times.
func TestDemo(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend})

	demo := exec.Command("make", "demo", "DSN=http://"+harness.TestKey+"@"+c.Address+"/1", "ROUNDS=2")
	demo.Dir = golden.Root(t)
	output, err := demo.CombinedOutput()
	require.NoError(t, err, "%s", output)

	messages := backend.DrainProfiles()
	var requests, profiles int
	_, summary, _ := strings.Cut(string(output), " accepted ")
	_, err = fmt.Sscanf(summary, "%d requests with %d profiles", &requests, &profiles)
	require.NoError(t, err, "%s", summary)
	require.Greater(t, profiles, 60, "%s", summary)
	require.Len(t, messages, profiles, "%s", summary)
	ids := map[string]bool{}
	for _, message := range messages {
		profiles, err := harness.DecodeProfiles(message)
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now(), harness.OnlyProfile(profiles).Time().AsTime(), 5*time.Minute)
		ids[harness.ProfileID(profiles)] = true
	}
	require.Len(t, ids, len(messages), "each with an id of its own")
}

// TestRunPorts: `make run` checks the ports of the quickstart and of the collector's own metrics
// before it builds, and reports a busy one in one line with the fix.
func TestRunPorts(t *testing.T) {
	config, err := os.ReadFile(filepath.Join(golden.Root(t), "examples", "quickstart", "config.yaml"))
	require.NoError(t, err)
	ports := []string{"8888"} // the collector's default for its metrics
	for _, endpoint := range regexp.MustCompile(`endpoint: localhost:(\d+)`).FindAllStringSubmatch(string(config), -1) {
		ports = append(ports, endpoint[1])
	}
	makefile, err := os.ReadFile(filepath.Join(golden.Root(t), "Makefile"))
	require.NoError(t, err)
	checked := regexp.MustCompile(`(?m)^PORTS +\?= (.*)$`).FindStringSubmatch(string(makefile))
	require.NotNil(t, checked)
	assert.ElementsMatch(t, ports, strings.Fields(checked[1]))
	assert.Contains(t, string(makefile), "\nrun: ports build ")

	free := harness.FreeAddress(t)
	taken, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	defer taken.Close()
	for address, busy := range map[string]bool{free: false, taken.Addr().String(): true} {
		_, port, err := net.SplitHostPort(address)
		require.NoError(t, err)
		check := exec.Command("make", "--silent", "ports", "PORTS="+port)
		check.Dir = golden.Root(t)
		output, err := check.Output()
		assert.Equal(t, busy, err != nil)
		assert.Equal(t, busy, strings.Contains(string(output), port))
		assert.LessOrEqual(t, strings.Count(string(output), "\n"), 1, "%s", output)
	}
}
