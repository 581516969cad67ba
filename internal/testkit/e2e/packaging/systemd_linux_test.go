// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// debianBooted is the container in which this process runs, with systemd as process 1.
type debianBooted struct{ debianRoot }

func newDebianBooted(t *testing.T) debianBooted {
	// In container images, this file prevents packages from starting services.
	if err := os.Remove("/usr/sbin/policy-rc.d"); !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	// Files that the service must not be able to read.
	for _, file := range []string{"/home/somebody/file", "/root/file", "/tmp/file"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, nil, 0o644))
	}
	return debianBooted{"/"}
}

// checkInstalled checks that the package has started the service with the default configuration.
func (d debianBooted) checkInstalled(t *testing.T) {
	analyze(t, d.debianRoot, unitFile)
	assert.Equal(t, "enabled", d.systemctl(t, "is-enabled", "otelcol-sentry"))
	d.waitReady(t, "localhost:4319")
	d.checkSandbox(t)
}

// checkSandbox checks the privileges of the service, and the files that it can see.
func (d debianBooted) checkSandbox(t *testing.T) {
	proc := filepath.Join("/proc", d.show(t, "MainPID"))
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	require.NoError(t, err)
	field := func(name string) string {
		found := regexp.MustCompile(`(?m)^` + name + `:\t(\S+)`).FindSubmatch(status)
		require.NotNil(t, found, name)
		return string(found[1])
	}
	for name, want := range map[string]string{
		"CapEff": "0000000000000000", "CapPrm": "0000000000000000", "CapBnd": "0000000000000000", "CapAmb": "0000000000000000",
		"NoNewPrivs": "1", "Seccomp": "2", // a filter is active
	} {
		assert.Equal(t, want, field(name), name)
	}
	uid, err := strconv.Atoi(field("Uid"))
	require.NoError(t, err)
	assert.True(t, 61184 <= uid && uid <= 65519, "a user of DynamicUser: %d", uid)

	for _, file := range []string{"usr/bin/file", "etc/otelcol-sentry/file", "var/lib/file", "sys/fs/cgroup/file"} {
		err := os.WriteFile(filepath.Join(proc, "root", file), nil, 0o644) // as root, regardless of file modes
		assert.ErrorIs(t, err, syscall.EROFS, file)
	}
	for _, file := range []string{"home/somebody/file", "root/file", "tmp/file", "dev/console"} {
		assert.FileExists(t, d.path(file))
		assert.NoFileExists(t, filepath.Join(proc, "root", file))
	}
	mounts, err := os.ReadFile(filepath.Join(proc, "mountinfo"))
	require.NoError(t, err)
	assert.Regexp(t, ` /proc .* - proc proc rw,hidepid=invisible,subset=pid\n`, string(mounts))

	var state syscall.Stat_t
	require.NoError(t, syscall.Stat("/var/lib/private/otelcol-sentry", &state))
	assert.EqualValues(t, uid, state.Uid)
	assert.EqualValues(t, 0o700, state.Mode&0o777)
}

func (d debianBooted) start(t *testing.T, a serviceAddresses) {
	d.systemctl(t, "restart", "otelcol-sentry")
	d.waitReady(t, a.receiver)
}

func (d debianBooted) Reload(t *testing.T) { d.systemctl(t, "reload", "otelcol-sentry") }

// Crash kills the service and checks that systemd restarts it.
func (d debianBooted) Crash(t *testing.T, a serviceAddresses) {
	first := d.show(t, "MainPID")
	d.systemctl(t, "kill", "--kill-whom=main", "--signal=KILL", "otelcol-sentry")
	require.Eventually(t, func() bool { return d.show(t, "NRestarts") == "1" }, 30*time.Second, 100*time.Millisecond)
	d.waitReady(t, a.receiver)
	assert.NotEqual(t, first, d.show(t, "MainPID"))
}

func (d debianBooted) Stop(t *testing.T) {
	d.systemctl(t, "stop", "otelcol-sentry")
	assert.Equal(t, "inactive", d.show(t, "ActiveState"))
	assert.Equal(t, "success", d.show(t, "Result"))
}

func (d debianBooted) Log(t *testing.T) string {
	output, err := exec.Command("journalctl", "--unit=otelcol-sentry", "--output=cat").Output()
	require.NoError(t, err)
	return string(output)
}

// files returns the files of the system, except those that the kernel and systemd create at run
// time.
func (d debianBooted) files(t *testing.T) []string {
	all := d.debianRoot.files(t, "proc", "sys", "dev", "run", "tmp", "usr", strings.TrimPrefix(containerUsr, "/"))
	for _, file := range debianRoot(containerUsr).files(t) {
		all = append(all, filepath.Join("usr", file))
	}
	return all
}

func (d debianBooted) waitReady(t *testing.T, address string) {
	t.Helper()
	require.NoError(t, harness.Remote(address).WaitReady(), "%s", d.Log(t))
	assert.Equal(t, "active", d.show(t, "ActiveState"))
}

func (d debianBooted) show(t *testing.T, property string) string {
	t.Helper()
	return d.systemctl(t, "show", "--value", "--property="+property, "otelcol-sentry")
}

func (d debianBooted) systemctl(t *testing.T, args ...string) string {
	t.Helper()
	output, err := exec.Command("systemctl", args...).CombinedOutput()
	require.NoError(t, err, "%s: %s", fmt.Sprint(args), output)
	return strings.TrimSpace(string(output))
}
