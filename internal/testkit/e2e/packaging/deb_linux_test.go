// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// debian is a system for installing packages. dpkg is real; the service is run by systemd or,
// without systemd, by the test.
type debian interface {
	dpkg(t *testing.T, args ...string)
	checkInstalled(t *testing.T)
	start(t *testing.T, a serviceAddresses) // or restarts it
	Reload(t *testing.T)
	Crash(t *testing.T, a serviceAddresses) // kills the service, which restarts
	Stop(t *testing.T)
	Log(t *testing.T) string

	root
	files(t *testing.T) []string
}

// TestDebianPackage: installation, operation, removal and purge of the package. systemd runs the
// service in a container. Where that is not possible, the collector runs with the command line of
// the unit, without features that require systemd.
func TestDebianPackage(t *testing.T) {
	if inContainer() {
		checkPackage(t, newDebianBooted(t), containerPackage)
		return
	}
	deb := buildDeb(t, harness.Binary(t))
	if c, err := bootContainer(t, newDebianRoot(t), deb); err == nil {
		c.run(t)
	} else {
		t.Logf("the service runs without systemd: %v", err)
		checkPackage(t, &debianByHand{debianRoot: newDebianRoot(t)}, deb)
	}
}

func checkPackage(t *testing.T, d debian, deb string) {
	before := d.files(t)
	backend := harness.NewSink(t)

	d.dpkg(t, "--install", deb)
	d.checkInstalled(t)
	assert.Contains(t, read(t, d, "usr/share/doc/otelcol-sentry/THIRD-PARTY-NOTICES.txt"), linkedModule)
	addresses := configure(t, d, backend)
	d.start(t, addresses)

	c := harness.Remote(addresses.receiver)
	require.Equal(t, http.StatusOK, c.Send(t, harness.ItemRequest("profile", harness.ProfileV1(harness.NewID()))).Status)
	require.Eventually(t, func() bool { return profilesOnPage(t, addresses.page) == 1 }, 30*time.Second, 50*time.Millisecond)

	edit(t, d, "etc/otelcol-sentry/config.yaml", "[profile_viewer]", "[profile_viewer, otlp_http]")
	d.Reload(t)
	require.Eventually(t, func() bool {
		_, _ = c.TrySend(harness.ItemRequest("profile", harness.ProfileV1(harness.NewID())))
		return len(backend.DrainProfiles()) > 0
	}, 30*time.Second, 200*time.Millisecond, "the backend that the configuration has prepared")

	id := harness.NewID()
	require.Equal(t, http.StatusOK, c.Send(t, harness.Chunk{ID: id}.Request()).Status) // held until its spans arrive
	d.Crash(t, addresses)
	d.Stop(t)
	d.start(t, addresses)
	require.Eventually(t, func() bool { return slices.Contains(deliveredIDs(t, backend), id) }, time.Minute, 50*time.Millisecond,
		"it waits again for its spans, 30 s, and then for its batch")
	d.Stop(t)
	assert.Contains(t, d.Log(t), "Everything is ready")
	assert.NotContains(t, d.Log(t), "panic")

	edited := read(t, d, "etc/otelcol-sentry/config.yaml")
	d.dpkg(t, "--install", deb)
	d.dpkg(t, "--remove", "otelcol-sentry")
	_, err := net.Dial("tcp", addresses.receiver)
	require.Error(t, err, "nothing runs any more")
	left := slices.DeleteFunc(d.files(t), func(path string) bool {
		return slices.Contains(before, path) || strings.HasPrefix(path, "var/lib/otelcol-sentry") ||
			strings.HasPrefix(path, "var/lib/private/otelcol-sentry/") || strings.Contains(path, "/systemd/")
	})
	assert.Equal(t, []string{"etc/otelcol-sentry/config.yaml", "etc/otelcol-sentry/environment"}, left, "conffiles only")
	assert.Equal(t, edited, read(t, d, "etc/otelcol-sentry/config.yaml"), "the administrator's changes stay")

	d.dpkg(t, "--purge", "otelcol-sentry")
	assert.Equal(t, before, d.files(t))
}

// buildDeb builds the package as `make deb` does.
func buildDeb(t *testing.T, binary string) string {
	harness.Tool(t, "dpkg", "it is part of Debian")
	needRoot(t)
	return build(t, "deb", binary)
}

func needRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can install into a root directory of its own, and start the collector there as another user")
	}
}

// build builds a package or the image with a collector, and returns its path.
func build(t *testing.T, kind, binary string) string {
	folder := t.TempDir()
	command := exec.Command("go", "run", "-trimpath", "./release", "-out", folder, "-binary", binary, kind)
	command.Dir = filepath.Join(golden.Root(t), "packaging")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	built, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	require.Len(t, built, 1)
	return built[0]
}

// serviceAddresses are the addresses at which the service listens in the test.
type serviceAddresses struct{ receiver, page string }

// configure changes the configuration as an administrator would: other ports, because the defaults
// may be in use, and a backend.
func configure(t *testing.T, d debian, backend *harness.Sink) serviceAddresses {
	const config, environment = "etc/otelcol-sentry/config.yaml", "etc/otelcol-sentry/environment"
	for path, mode := range map[string]fs.FileMode{config: 0o644, environment: 0o600} {
		info, err := os.Stat(d.path(path))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), path)
	}
	a := serviceAddresses{receiver: harness.FreeAddress(t), page: harness.FreeAddress(t)}
	_, metricsPort, _ := strings.Cut(harness.FreeAddress(t), ":")
	edit(t, d, config, "endpoint: localhost:4319", "endpoint: "+a.receiver)
	edit(t, d, config, "endpoint: localhost:4321", "endpoint: "+a.page)
	edit(t, d, config, "endpoint: localhost:13133", "endpoint: "+harness.FreeAddress(t))
	edit(t, d, config, "port: 8888", "port: "+metricsPort)
	edit(t, d, environment, "#OTLP_ENDPOINT=https://profiles.example.com", "OTLP_ENDPOINT="+backend.URL())
	return a
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

func deliveredIDs(t *testing.T, backend *harness.Sink) (ids []string) {
	for _, message := range backend.DrainProfiles() {
		profiles, err := harness.DecodeProfiles(message)
		require.NoError(t, err)
		for _, resource := range profiles.ResourceProfiles().All() { // several, if the exporter has batched them
			for _, scope := range resource.ScopeProfiles().All() {
				for _, profile := range scope.Profiles().All() {
					id := profile.ProfileID()
					ids = append(ids, hex.EncodeToString(id[:]))
				}
			}
		}
	}
	return ids
}

// unitFile is the path of the unit in the package.
const unitFile = "lib/systemd/system/otelcol-sentry.service"

// analyze checks the unit with systemd-analyze.
func analyze(t *testing.T, root debianRoot, file string) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("no systemd-analyze: the unit is not checked")
		return
	}
	unit := filepath.Join(t.TempDir(), "otelcol-sentry.service")
	text := strings.ReplaceAll(read(t, root, file), "=/usr/bin/", "="+root.path("usr/bin")+"/")
	require.NoError(t, os.WriteFile(unit, []byte(text), 0o644))
	for _, check := range [][]string{
		{"verify", "--man=no", unit},
		{"security", "--offline=true", "--threshold=20", unit}, // in tenths; 10.0 means no protection
	} {
		output, err := exec.Command(tool, check...).CombinedOutput()
		assert.NoError(t, err, "%s", output)
	}
}

// root is where paths of an installation are.
type root interface{ path(name string) string }

func read(t *testing.T, d root, name string) string {
	text, err := os.ReadFile(d.path(name))
	require.NoError(t, err)
	return string(text)
}

func edit(t *testing.T, d root, name, old, new string) {
	text := read(t, d, name)
	require.Contains(t, text, old, name)
	require.NoError(t, os.WriteFile(d.path(name), []byte(strings.ReplaceAll(text, old, new)), 0o644))
}

// debianRoot is a directory that dpkg uses as a root.
type debianRoot string

func newDebianRoot(t *testing.T) debianRoot {
	root := debianRoot(t.TempDir())
	for _, dir := range []string{"etc", "var/log", "var/lib/dpkg/info", "var/lib/dpkg/updates"} {
		require.NoError(t, os.MkdirAll(root.path(dir), 0o755))
	}
	for name, text := range map[string]string{
		"etc/hosts": "127.0.0.1 localhost\n",
		"var/lib/dpkg/info/init-system-helpers.list": "/.\n/etc\n",
		"var/lib/dpkg/status": "Package: init-system-helpers\nStatus: install ok installed\nVersion: 1.65\n" +
			"Architecture: all\nMaintainer: nobody\nDescription: its commands are those of the machine\n",
	} {
		require.NoError(t, os.WriteFile(root.path(name), []byte(text), 0o644))
	}
	return root
}

func (root debianRoot) path(name string) string { return filepath.Join(string(root), name) }

// dpkg runs dpkg and fails on warnings.
func (root debianRoot) dpkg(t *testing.T, args ...string) {
	t.Helper()
	command := exec.Command("dpkg", append([]string{"--root=" + string(root), "--log=" + root.path("var/log/dpkg.log"), "--force-unsafe-io"}, args...)...)
	command.Env = append(os.Environ(), "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	for line := range strings.Lines(string(output)) {
		if !strings.Contains(line, "not empty so not removed") { // contains packages that this dpkg does not know
			assert.NotContains(t, line, "warning", "%s", output)
		}
	}
}

// files returns all files below the root, except those of dpkg and those in the skipped
// directories.
func (root debianRoot) files(t *testing.T, skip ...string) (all []string) {
	skip = append(skip, "var/lib/dpkg")
	require.NoError(t, filepath.WalkDir(string(root), func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(string(root), path)
		switch {
		case err != nil:
			return err
		case slices.Contains(skip, name):
			return filepath.SkipDir
		case !entry.IsDir() && name != "var/log/dpkg.log":
			all = append(all, name)
		}
		return nil
	}))
	return all
}
