// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// debianByHand is a root directory in which the test does the work of systemd.
type debianByHand struct {
	debianRoot
	service *harness.Collector // nil = not started
	before  string             // the logs of earlier processes
}

// dpkg runs maintainer scripts with DPKG_ROOT instead of a chroot, because the root has no shell.
func (d *debianByHand) dpkg(t *testing.T, args ...string) {
	t.Helper()
	d.debianRoot.dpkg(t, append([]string{"--force-script-chrootless"}, args...)...)
}

func (d *debianByHand) checkInstalled(t *testing.T) {
	assert.FileExists(t, d.path("etc/systemd/system/multi-user.target.wants/otelcol-sentry.service"), "the service is enabled")
	analyze(t, d.debianRoot, unitFile)
}

// start prepares the state directory, the user and the environment, and runs the command line of
// the unit.
func (d *debianByHand) start(t *testing.T, a serviceAddresses) {
	const user = 61184 // the first user ID that DynamicUser assigns
	unit := d.unit(t)
	require.Equal(t, "yes", unit["DynamicUser"])
	state := d.path(filepath.Join("var/lib", unit["StateDirectory"]))
	require.NoError(t, os.MkdirAll(state, 0o700))
	require.NoError(t, os.Chown(state, user, user))

	line := strings.Fields(unit["ExecStart"])
	process := &exec.Cmd{Path: line[0], Args: line, Dir: "/", SysProcAttr: &syscall.SysProcAttr{
		Chroot: string(d.debianRoot), Credential: &syscall.Credential{Uid: user, Gid: user},
	}}
	for line := range strings.Lines(read(t, d, strings.TrimPrefix(unit["EnvironmentFile"], "-/"))) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			process.Env = append(process.Env, line)
		}
	}
	d.service = harness.StartCommand(t, process, a.receiver)
	require.NoError(t, d.service.WaitReady(), "%s", d.service.Log.Tail())
}

func (d *debianByHand) Reload(t *testing.T) {
	require.Equal(t, "/bin/kill -HUP $MAINPID", d.unit(t)["ExecReload"])
	d.service.Reload(t)
}

func (d *debianByHand) Crash(t *testing.T, a serviceAddresses) {
	require.Equal(t, "on-failure", d.unit(t)["Restart"])
	d.service.Kill()
	d.before += d.service.Log.String()
	d.start(t, a)
}

func (d *debianByHand) Stop(t *testing.T) {
	d.service.Stop(t)
	d.before += d.service.Log.String()
}

func (d *debianByHand) Log(t *testing.T) string { return d.before }

func (d *debianByHand) files(t *testing.T) []string { return d.debianRoot.files(t) }

func (d *debianByHand) unit(t *testing.T) map[string]string {
	settings := map[string]string{}
	for line := range strings.Lines(read(t, d, unitFile)) {
		if key, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(key, "#") {
			settings[key] = value
		}
	}
	return settings
}
