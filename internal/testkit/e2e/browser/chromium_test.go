// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// browser is Debian's Chromium, driven by the scripts in this folder. All tests share one.
type browser struct {
	node, folder string
	driver       func() *driver
}

// findBrowser skips the test if a program is missing. Tests install or download nothing.
func findBrowser(t *testing.T) browser {
	folder, err := filepath.Abs(".")
	require.NoError(t, err)
	b := browser{
		folder: folder,
		node:   harness.Tool(t, "node", "install Node.js 24, https://nodejs.org"),
		driver: chromium.use(t),
	}
	harness.Tool(t, "chromium", harness.Debian+"chromium")
	harness.File(t, "npm packages of the browser tests", filepath.Join(folder, "node_modules"), harness.Packages)
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
func (b browser) run(t *testing.T, scenario, url string) browserTraffic {
	t.Helper()
	traffic := b.driver().run(t, "./"+scenario, url)
	require.Empty(t, traffic.Failure, scenario)
	return traffic
}

var chromium = shared[*driver]{start: startDriver, stop: func(t *testing.T, d *driver) { d.stop(t) }}

// driver is a process of drive.mjs.
type driver struct {
	process *exec.Cmd
	stdin   io.WriteCloser
	log     *harness.LogBuffer
	exited  chan struct{} // closed at the end of its output

	mu      sync.Mutex
	last    int
	waiting map[int]chan browserTraffic
}

func startDriver(t *testing.T) *driver {
	d := &driver{process: exec.Command("node", "drive.mjs", "chromium"), log: &harness.LogBuffer{}, exited: make(chan struct{}), waiting: map[int]chan browserTraffic{}}
	chromium, err := exec.LookPath("chromium")
	require.NoError(t, err)
	d.process.Args[2] = chromium
	d.process.Stderr = d.log
	d.stdin, err = d.process.StdinPipe()
	require.NoError(t, err)
	stdout, err := d.process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, d.process.Start())
	go d.read(json.NewDecoder(stdout))
	return d
}

// read distributes the reports of scenarios.
func (d *driver) read(reports *json.Decoder) {
	defer close(d.exited)
	for {
		var report browserTraffic
		if reports.Decode(&report) != nil {
			return
		}
		d.mu.Lock()
		d.waiting[report.ID] <- report
		delete(d.waiting, report.ID)
		d.mu.Unlock()
	}
}

func (d *driver) run(t *testing.T, scenario, url string) browserTraffic {
	t.Helper()
	report := make(chan browserTraffic, 1)
	d.mu.Lock()
	d.last++
	d.waiting[d.last] = report
	err := json.NewEncoder(d.stdin).Encode(map[string]any{"id": d.last, "scenario": scenario, "url": url})
	d.mu.Unlock()
	require.NoError(t, err, "%s", d.log.Tail())
	select {
	case traffic := <-report:
		return traffic
	case <-d.exited:
		require.Fail(t, "the browser has ended", "%s", d.log.Tail())
		return browserTraffic{}
	}
}

func (d *driver) stop(t *testing.T) {
	require.NoError(t, d.stdin.Close())
	<-d.exited
	require.NoError(t, d.process.Wait(), "%s", d.log.Tail())
}

// browserTraffic is the report of drive.mjs on a scenario.
type browserTraffic struct {
	ID       int
	Requests []browserRequest // to origins other than the page's
	Errors   []string         // of the page's scripts
	Result   json.RawMessage  // of the scenario
	Failure  string           // of the scenario
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
