// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// browser is Debian's Chromium, driven by the scripts in this folder.
type browser struct{ node, chromium, folder string }

// findBrowser skips the test if a program is missing. Tests install or download nothing.
func findBrowser(t *testing.T) browser {
	folder, err := filepath.Abs(".")
	require.NoError(t, err)
	b := browser{folder: folder}
	if b.node, err = exec.LookPath("node"); err != nil {
		t.Skip("no node")
	}
	if b.chromium, err = exec.LookPath("chromium"); err != nil {
		t.Skip("no chromium; on Debian: apt-get install chromium")
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Skip("no packages; `make packages` installs them")
	}
	return b
}

// bundle bundles a module and its imports into one script.
func (b browser) bundle(t *testing.T, entry string) []byte {
	build := exec.Command(filepath.Join(b.folder, "node_modules", ".bin", "esbuild"), entry, "--bundle", "--log-level=warning")
	build.Dir, build.Stderr = b.folder, os.Stderr
	script, err := build.Output()
	require.NoError(t, err)
	return script
}

// run opens the URL, runs a scenario on the page, and returns the traffic of the page.
func (b browser) run(t *testing.T, scenario, url string) (traffic browserTraffic) {
	drive := exec.CommandContext(t.Context(), b.node, "drive.mjs", b.chromium, "./"+scenario, url)
	drive.Dir, drive.Stderr = b.folder, os.Stderr
	out, err := drive.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &traffic))
	return traffic
}

// browserTraffic is the output of drive.mjs.
type browserTraffic struct {
	Requests []browserRequest // to origins other than the page's
	Errors   []string         // of the page's scripts
	Result   json.RawMessage  // of the scenario
}

type browserRequest struct {
	Method string // OPTIONS = a preflight
	Body   string
	Failed string // the reason; "" = did not fail
	Answer browserAnswer
}

type browserAnswer struct {
	Status  int
	Headers map[string]string
}

func (a browserAnswer) header(name string) string {
	for key, value := range a.Headers {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}
