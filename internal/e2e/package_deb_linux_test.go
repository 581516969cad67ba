package e2e

import (
	"encoding/json"
	"io/fs"
	"net/http"
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

	"github.com/otelcol-sentry/otelcol-sentry/internal/golden"
)

// TestDebianPackage: the package from its installation to its purge, in a root of its own. The collector runs as the unit says, but
// for what only systemd can do.
func TestDebianPackage(t *testing.T) {
	binary := findBinary(t)
	root := newDebianRoot(t)
	before := root.files(t)
	backend := newSink(t)

	deb := buildDeb(t, binary)
	root.dpkg(t, "--install", deb)
	unit := root.unit(t)
	addresses := root.configure(t, backend)
	c := root.startService(t, unit, addresses)

	require.Equal(t, http.StatusOK, c.send(t, envelopeOf("profile", profileV1(newID()))).status)
	require.Eventually(t, func() bool { return profilesOnPage(t, addresses.page) == 1 }, 10*time.Second, 50*time.Millisecond)

	root.edit(t, "etc/otelcol-sentry/config.yaml", "[profile_viewer]", "[profile_viewer, otlp_http]")
	require.Equal(t, "/bin/kill -HUP $MAINPID", unit["ExecReload"])
	require.NoError(t, c.process.Process.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool {
		_, _ = c.trySend(envelopeOf("profile", profileV1(newID())))
		return len(backend.take()) > 0
	}, 20*time.Second, 200*time.Millisecond, "the backend that the configuration has prepared")
	id := newID()
	require.Equal(t, http.StatusOK, c.send(t, chunk{id: id}.request()).status)
	c.stop(t) // while the chunk waits for its spans
	c = root.startService(t, unit, addresses)
	require.Eventually(t, func() bool { return slices.Contains(deliveredIDs(t, backend), id) }, 20*time.Second, 50*time.Millisecond)
	c.stop(t)

	edited := root.read(t, "etc/otelcol-sentry/config.yaml")
	root.dpkg(t, "--install", deb)
	root.dpkg(t, "--remove", "otelcol-sentry")
	left := slices.DeleteFunc(root.files(t), func(path string) bool {
		return slices.Contains(before, path) || strings.HasPrefix(path, "var/lib/otelcol-sentry/") || strings.Contains(path, "/systemd/")
	})
	assert.Equal(t, []string{"etc/otelcol-sentry/config.yaml", "etc/otelcol-sentry/environment"}, left, "conffiles only")
	assert.Equal(t, edited, root.read(t, "etc/otelcol-sentry/config.yaml"), "the administrator's changes stay")

	root.dpkg(t, "--purge", "otelcol-sentry")
	assert.Equal(t, before, root.files(t))
}

// buildDeb is `make deb`, into a directory of the test.
func buildDeb(t *testing.T, binary string) string {
	build := exec.Command(filepath.Join(golden.Root(t), "packaging", "deb", "build"), binary, t.TempDir())
	build.Stderr = os.Stderr
	path, err := build.Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(path))
}

func profilesOnPage(t *testing.T, page string) int {
	response, err := http.Get("http://" + page + "/api/overview")
	require.NoError(t, err)
	defer response.Body.Close()
	var overview struct {
		Profiles int `json:"profile_count"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&overview))
	return overview.Profiles
}

func deliveredIDs(t *testing.T, backend *sink) (ids []string) {
	for _, message := range backend.take() {
		profiles, err := decode(message)
		require.NoError(t, err)
		ids = append(ids, profileID(profiles))
	}
	return ids
}

// debianRoot is a directory that dpkg takes for a system.
type debianRoot string

func newDebianRoot(t *testing.T) debianRoot {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("no dpkg: no package")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can install a package into a root of its own, and run the service there")
	}
	root := debianRoot(t.TempDir())
	for _, dir := range []string{"etc", "var/log", "var/lib/dpkg/info", "var/lib/dpkg/updates"} {
		require.NoError(t, os.MkdirAll(root.path(dir), 0o755))
	}
	root.write(t, "etc/hosts", "127.0.0.1 localhost\n")
	root.write(t, "var/lib/dpkg/info/init-system-helpers.list", "/.\n/etc\n")
	root.write(t, "var/lib/dpkg/status", "Package: init-system-helpers\nStatus: install ok installed\nVersion: 1.65\n"+
		"Architecture: all\nMaintainer: nobody\nDescription: its commands are those of the machine\n")
	return root
}

// dpkg runs maintainer scripts with DPKG_ROOT instead of a chroot, as the root has no shell.
func (root debianRoot) dpkg(t *testing.T, args ...string) {
	t.Helper()
	command := exec.Command("dpkg", append([]string{"--root=" + string(root), "--log=" + root.path("var/log/dpkg.log"), "--force-script-chrootless", "--force-unsafe-io"}, args...)...)
	command.Env = append(os.Environ(), "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.NotContains(t, string(output), "warning", "%s", output)
}

// unit reads the unit as it was installed, and has systemd's own tools look at it.
func (root debianRoot) unit(t *testing.T) map[string]string {
	const path = "lib/systemd/system/otelcol-sentry.service"
	assert.FileExists(t, root.path("etc/systemd/system/multi-user.target.wants/otelcol-sentry.service"), "the service is enabled")
	if analyze, err := exec.LookPath("systemd-analyze"); err == nil {
		there := filepath.Join(t.TempDir(), "otelcol-sentry.service")
		text := strings.ReplaceAll(root.read(t, path), "=/usr/bin/", "="+root.path("usr/bin")+"/")
		require.NoError(t, os.WriteFile(there, []byte(text), 0o644))
		for _, check := range [][]string{
			{"verify", "--man=no", there},
			{"security", "--offline=true", "--threshold=20", there}, // in tenths of 10.0, which is no protection at all
		} {
			output, err := exec.Command(analyze, check...).CombinedOutput()
			assert.NoError(t, err, "%s", output)
		}
	}
	settings := map[string]string{}
	for line := range strings.Lines(root.read(t, path)) {
		if key, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(key, "#") {
			settings[key] = value
		}
	}
	return settings
}

// serviceAddresses are where the service listens in the test.
type serviceAddresses struct{ receiver, metrics, page string }

// configure does what an administrator would: other ports, as those of the test's machine may be taken, and a backend.
func (root debianRoot) configure(t *testing.T, backend *sink) serviceAddresses {
	const config, environment = "etc/otelcol-sentry/config.yaml", "etc/otelcol-sentry/environment"
	for path, mode := range map[string]fs.FileMode{config: 0o644, environment: 0o600} {
		info, err := os.Stat(root.path(path))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), path)
	}
	a := serviceAddresses{receiver: freeAddress(t), metrics: freeAddress(t), page: freeAddress(t)}
	_, port, _ := strings.Cut(a.metrics, ":")
	root.edit(t, config, "endpoint: localhost:4319", "endpoint: "+a.receiver)
	root.edit(t, config, "endpoint: localhost:4321", "endpoint: "+a.page)
	root.edit(t, config, "endpoint: localhost:13133", "endpoint: "+freeAddress(t))
	root.edit(t, config, "port: 8888", "port: "+port)
	root.edit(t, environment, "#OTLP_ENDPOINT=https://profiles.example.com", "OTLP_ENDPOINT="+backend.url())
	return a
}

// startService does what systemd does: the state directory, the user, the environment, the line.
func (root debianRoot) startService(t *testing.T, unit map[string]string, a serviceAddresses) *collector {
	const user = 61184 // the first of those that DynamicUser takes
	require.Equal(t, "yes", unit["DynamicUser"])
	state := root.path(filepath.Join("var/lib", unit["StateDirectory"]))
	require.NoError(t, os.MkdirAll(state, 0o700))
	require.NoError(t, os.Chown(state, user, user))

	line := strings.Fields(unit["ExecStart"])
	process := &exec.Cmd{Path: line[0], Args: line, Dir: "/", SysProcAttr: &syscall.SysProcAttr{
		Chroot: string(root), Credential: &syscall.Credential{Uid: user, Gid: user},
	}}
	for line := range strings.Lines(root.read(t, strings.TrimPrefix(unit["EnvironmentFile"], "-/"))) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			process.Env = append(process.Env, line)
		}
	}
	c := &collector{address: a.receiver, metrics: a.metrics, log: &logBuffer{}, exited: make(chan struct{})}
	c.run(t, process)
	require.NoError(t, c.waitReady(), "%s", c.log.Tail())
	t.Cleanup(func() { c.stop(t) })
	return c
}

func (root debianRoot) path(name string) string { return filepath.Join(string(root), name) }

func (root debianRoot) read(t *testing.T, name string) string {
	text, err := os.ReadFile(root.path(name))
	require.NoError(t, err)
	return string(text)
}

func (root debianRoot) write(t *testing.T, name, text string) {
	require.NoError(t, os.WriteFile(root.path(name), []byte(text), 0o644))
}

func (root debianRoot) edit(t *testing.T, name, old, new string) {
	text := root.read(t, name)
	require.Contains(t, text, old, name)
	root.write(t, name, strings.ReplaceAll(text, old, new))
}

// files are all but dpkg's own.
func (root debianRoot) files(t *testing.T) (all []string) {
	require.NoError(t, filepath.WalkDir(string(root), func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, string(root)+"/")
		switch {
		case err != nil:
			return err
		case name == "var/lib/dpkg":
			return filepath.SkipDir
		case !entry.IsDir() && name != "var/log/dpkg.log":
			all = append(all, name)
		}
		return nil
	}))
	return all
}
