// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// Additional files in the container.
const (
	containerTest    = "/e2e.test" // this program, which continues in the container
	containerPackage = "/otelcol-sentry.deb"
	containerUsr     = "/usr-changed" // changes to the machine's /usr
)

// inContainer reports whether this program runs in the container.
func inContainer() bool { return os.Getenv("OTELCOL_SENTRY_CONTAINER") != "" }

// container is a root in which systemd runs with this machine's programs, and with its own
// processes and network.
type container struct {
	nspawn *exec.Cmd
	exited chan struct{} // closed after exit
	leader string        // PID of the container's process 1; "" = not known yet
	log    *harness.LogBuffer
}

// bootContainer starts systemd without the usual services of a machine.
func bootContainer(t *testing.T, root debianRoot, deb string) (*container, error) {
	for _, tool := range []string{"systemd-nspawn", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("%w; on Debian: apt-get install systemd-container util-linux", err)
		}
	}
	groups := controlGroups(t)
	if len(groups) == 0 {
		return nil, errors.New("no control groups of its own can be made in /sys/fs/cgroup")
	}
	test, err := os.Executable()
	require.NoError(t, err)
	root.likeThisMachine(t)
	changed := t.TempDir()
	require.NoError(t, os.Chmod(changed, 0o755))

	c := &container{log: &harness.LogBuffer{}, exited: make(chan struct{})}
	c.nspawn = exec.Command("sh", "-c", `for group in $GROUPS_OF_TEST; do echo 0 >"$group/cgroup.procs" || exit; done; exec "$@"`, "sh",
		"systemd-nspawn", "--directory="+string(root), "--overlay=/usr:"+changed+":/usr", "--bind-ro="+changed+":"+containerUsr,
		"--bind-ro="+test+":"+containerTest, "--bind-ro="+deb+":"+containerPackage,
		"--machine="+containerName(), "--private-network", "--resolv-conf=off", "--timezone=off", "--link-journal=no",
		// If systemd does not run on this machine, the container cannot be registered, and nspawn
		// stays in its own control groups.
		"--register=no", "--keep-unit",
		"--boot", "--", "--unit=sysinit.target", "--show-status=no")
	c.nspawn.Env = append(os.Environ(), "GROUPS_OF_TEST="+strings.Join(groups, " "))
	c.nspawn.Stdout, c.nspawn.Stderr = c.log, c.log
	c.nspawn.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, c.nspawn.Start())
	go func() {
		_ = c.nspawn.Wait()
		close(c.exited)
	}()
	t.Cleanup(c.Stop)
	return c, c.waitBooted()
}

func containerName() string { return fmt.Sprintf("otelcol-sentry-%d", os.Getpid()) }

// likeThisMachine adds the files that systemd needs in addition to /usr.
func (root debianRoot) likeThisMachine(t *testing.T) {
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		if target, err := os.Readlink("/" + name); err == nil {
			require.NoError(t, os.Symlink(target, root.path(name)))
		}
	}
	for name, text := range map[string]string{
		"etc/os-release": "ID=debian\n",
		"etc/passwd":     "root:x:0:0:root:/root:/bin/sh\n",
		"etc/group":      "root:x:0:\n",
		"etc/machine-id": "",
	} {
		require.NoError(t, os.WriteFile(root.path(name), []byte(text), 0o644))
	}
}

// controlGroups creates a control group in each hierarchy that systemd uses, if this is permitted.
func controlGroups(t *testing.T) (groups []string) {
	for _, hierarchy := range []string{"systemd", "unified", "."} { // cgroup v1; v2 in addition to v1; v2
		parent := filepath.Join("/sys/fs/cgroup", hierarchy)
		if _, err := os.Stat(filepath.Join(parent, "cgroup.procs")); err != nil {
			continue
		}
		group := filepath.Join(parent, containerName())
		if os.Mkdir(group, 0o755) == nil {
			groups = append(groups, group)
			t.Cleanup(func() { removeControlGroup(t, group) })
		}
	}
	return groups
}

// removeControlGroup removes an empty control group, and those that systemd created in it.
func removeControlGroup(t *testing.T, group string) {
	var all []string
	assert.NoError(t, filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			all = append(all, path)
		}
		return err
	}))
	for _, path := range slices.Backward(all) {
		assert.NoError(t, os.Remove(path))
	}
}

func (c *container) waitBooted() error {
	for deadline := time.Now().Add(harness.StartTimeout); ; time.Sleep(100 * time.Millisecond) {
		select {
		case <-c.exited:
			return fmt.Errorf("systemd-nspawn ends: %s", c.log.Tail())
		default:
		}
		state := "no processes"
		if c.findLeader() {
			output, _ := c.enter("systemctl", "is-system-running").CombinedOutput()
			state = strings.TrimSpace(string(output))
			if state == "running" || state == "degraded" { // degraded = a unit failed
				return nil
			}
		}
		if time.Now().After(deadline) {
			c.Stop()
			return fmt.Errorf("systemd is not up after %s: %s: %s", harness.StartTimeout, state, c.log.Tail())
		}
	}
}

// findLeader finds the child of nspawn that is process 1 in its own namespace.
func (c *container) findLeader() bool {
	pid := c.nspawn.Process.Pid
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(children)) {
		status, _ := os.ReadFile("/proc/" + child + "/status")
		if strings.Contains(string(status), "\nNSpid:\t"+child+"\t1\n") {
			c.leader = child
		}
	}
	return c.leader != ""
}

func (c *container) enter(command ...string) *exec.Cmd {
	enter := exec.Command("nsenter", append([]string{"--target=" + c.leader, "--all"}, command...)...)
	enter.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "OTELCOL_SENTRY_CONTAINER=yes"}
	return enter
}

// run runs the rest of the test in the container.
func (c *container) run(t *testing.T) {
	output, err := c.enter(containerTest, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=3m").CombinedOutput()
	assert.NoError(t, err, "in the container")
	t.Logf("in the container:\n%s", output)
}

// Stop shuts the container down. Further calls have no effect.
func (c *container) Stop() {
	_ = c.nspawn.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.exited:
	case <-time.After(harness.StopTimeout):
		_ = c.nspawn.Process.Kill()
		<-c.exited
	}
}
