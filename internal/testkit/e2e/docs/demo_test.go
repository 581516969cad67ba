// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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

// TestRunPorts: `make run` checks the ports of the quickstart before it builds, and reports a busy
// one in one line with the fix. Whoever changes a port there has changed it everywhere.
func TestRunPorts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "examples", "quickstart", "config.yaml"))
	require.NoError(t, err)
	makeQuietly := func(arguments ...string) (string, error) {
		command := exec.Command("make", append([]string{"--silent"}, arguments...)...)
		command.Dir = golden.Root(t)
		output, err := command.Output()
		return string(output), err
	}
	for offset, host := range map[int]string{0: "localhost", 20000: "0.0.0.0"} {
		changed := regexp.MustCompile(`localhost:(\d+)|port: (\d+)`).ReplaceAllStringFunc(string(text), func(address string) string {
			number := regexp.MustCompile(`\d+`).FindString(address)
			port, _ := strconv.Atoi(number)
			return strings.Replace(strings.Replace(address, number, strconv.Itoa(port+offset), 1), "localhost", host, 1)
		})
		config := filepath.Join(t.TempDir(), "config.yaml")
		require.NoError(t, os.WriteFile(config, []byte(changed), 0o600))
		run, err := makeQuietly("--dry-run", "run", "demo", "QUICK="+config)
		require.NoError(t, err)
		port := func(port int) string { return strconv.Itoa(port + offset) }
		for _, line := range []string{
			"http://" + harness.TestKey + "@localhost:" + port(4319) + "/1\"",
			"http://localhost:" + port(4321) + "/   flame graphs",
			port(4317) + " and " + port(4318) + " OTLP, " + port(8969) + " Spotlight, " + port(8888) + " metrics, " + port(13133) + " health\"",
			"for port in " + strings.Join([]string{port(4319), port(8969), port(4317), port(4318), port(4321), port(13133), port(8888)}, " ") + ";",
			"send --dsn http://" + harness.TestKey + "@localhost:" + port(4319) + "/1 ",
			"Open http://localhost:" + port(4321) + "/\"",
		} {
			assert.Contains(t, run, line)
		}
	}

	free := harness.FreeAddress(t)
	taken, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	defer taken.Close()
	for address, busy := range map[string]bool{free: false, taken.Addr().String(): true} {
		_, port, err := net.SplitHostPort(address)
		require.NoError(t, err)
		output, err := makeQuietly("ports", "PORTS="+port)
		assert.Equal(t, busy, err != nil)
		assert.Equal(t, busy, strings.Contains(output, port))
		assert.LessOrEqual(t, strings.Count(output, "\n"), 1, "%s", output)
	}
}
