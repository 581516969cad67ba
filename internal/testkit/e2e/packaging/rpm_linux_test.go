// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestRPM installs the RPM package into an empty root, without its scripts, which need systemd of
// Fedora. rpm verifies digests and modes; the installed collector accepts the installed
// configuration.
func TestRPM(t *testing.T) {
	harness.Tool(t, "rpm", harness.Debian+"rpm")
	needRoot(t)
	path := build(t, "rpm", harness.Binary(t))
	rpm := func(args ...string) string {
		t.Helper()
		output, err := exec.Command("rpm", args...).CombinedOutput()
		require.NoError(t, err, "%s", output)
		return string(output)
	}
	rpm("--checksig", "--nosignature", path)
	assert.Equal(t, "otelcol-sentry Apache-2.0 linux localhost", rpm("-qp", "--qf", "%{NAME} %{LICENSE} %{OS} %{BUILDHOST}", path))
	assert.Equal(t, []string{"/etc/otelcol-sentry/config.yaml", "/etc/otelcol-sentry/environment"}, strings.Fields(rpm("-qp", "--configfiles", path)))
	scripts := rpm("-qp", "--scripts", path)
	for _, action := range []string{"install-system-units", "remove-system-units", "mark-restart-system-units"} {
		assert.Contains(t, scripts, action+" otelcol-sentry.service")
	}

	root := debianRoot(t.TempDir())
	rpm("--root", string(root), "--initdb")
	rpm("--root", string(root), "--install", "--nodeps", "--noscripts", path)
	assert.Empty(t, rpm("--root", string(root), "--verify", "--nodeps", "otelcol-sentry"), "files as in the package")
	analyze(t, root, filepath.Join("usr", unitFile))
	assert.Contains(t, read(t, root, "usr/share/doc/otelcol-sentry/THIRD-PARTY-NOTICES.txt"), linkedModule)
	assert.Contains(t, rpm("-qp", "--qf", "[%{FILEMODES:perms} %{FILENAMES}\n]", path), "-rw------- /etc/otelcol-sentry/environment\n")
	rpm("--root", string(root), "--erase", "--noscripts", "otelcol-sentry")
	for _, file := range root.files(t, "var/lib/rpm", "usr/lib/sysimage") {
		assert.NotContains(t, file, "otelcol-sentry")
	}
}
