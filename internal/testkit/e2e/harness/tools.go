// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"os"
	"os/exec"
	"testing"
)

// Tool returns the path of a program that other people have written. Without it, it skips the test;
// tests install nothing.
func Tool(t testing.TB, name, install string) (path string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name, install)
	}
	return path
}

// File returns the path of an installed file of a tool. Without it, it skips the test.
func File(t testing.TB, tool, path, install string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		Missing(t, tool, install)
	}
	return path
}

// Missing skips a test that needs a tool. All messages have the same start: it lists the tools that
// a machine lacks.
func Missing(t testing.TB, tool, install string) {
	t.Helper()
	t.Skipf("missing tool: %s; %s", tool, install)
}

// Ways to install a tool.
const (
	Packages = "`make packages` installs it"
	Debian   = "on Debian: apt-get install " // the name of the package
)
