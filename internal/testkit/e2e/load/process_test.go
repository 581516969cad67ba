// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	processURL    = "LOAD_PROCESS_URL"    // of the server to which the process posts
	processBodies = "LOAD_PROCESS_BODIES" // a folder
)

// testProcess returns the command of a process that runs a test of this package with one form of
// the profiles of a mix.
func testProcess(t *testing.T, test, url string, m mix, form func(load) body) *exec.Cmd {
	folder := t.TempDir()
	for i, l := range m.loads {
		zipped, _ := form(l).fresh()
		require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%04d", i)), zipped, 0o600))
	}
	command := exec.Command(os.Args[0], "-test.run=^"+test+"$")
	command.Env = append(os.Environ(), processURL+"="+url, processBodies+"="+folder)
	return command
}

// processInput returns the input of a testProcess. It skips the test in any other process.
func processInput(t *testing.T) (url string, zipped [][]byte) {
	url = os.Getenv(processURL)
	if url == "" {
		t.Skip("runs in a process of its own")
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv(processBodies), "*"))
	require.NoError(t, err)
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		zipped = append(zipped, body)
	}
	return url, zipped
}
