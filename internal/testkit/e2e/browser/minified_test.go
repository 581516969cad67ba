// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// busy are the functions of minified-app.js that take time.
var busy = []string{"hashCart", "restockShelves", "countInventory", "get totalValue", "priceOrder", "sortOrders", "sendInvoice", "addTotal"}

// TestBrowserMinified: Chromium and Sentry's SDK profile minified builds of an application whose
// source maps sentry-cli has uploaded. The names and shares of functions are those of the build
// that is not minified.
func TestBrowserMinified(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	c, backend, upload := startUploads(t, b)
	plain := counts{}
	for _, bundler := range []string{"esbuild", "terser", "webpack"} {
		t.Run(bundler, func(t *testing.T) {
			got, folder := counts{}, b.minify(t, bundler)
			upload(t, folder)
			var difference float64
			for run := range maxRuns { // other processes delay samples: more runs even this out
				if run > 0 || len(plain) == 0 {
					plain.add(t, b.profile(t, c, b.minify(t, "plain"), backend, ""))
				}
				got.add(t, b.profile(t, c, folder, backend, "minified-app.js"))
				if difference = plain.difference(got); difference <= maxDifference {
					break
				}
			}
			t.Logf("largest difference %.1f points; plain: %v, %s: %v", difference, plain, bundler, got)
			assert.LessOrEqual(t, difference, maxDifference, "points")
		})
	}
}

const (
	maxDifference = 5.0 // percentage points
	maxRuns       = 5
)

// startUploads starts a collector that symbolicates, and returns a function that injects debug IDs
// into a build and uploads it.
func startUploads(t *testing.T, b browser) (c *harness.Collector, backend *harness.Sink, upload func(t *testing.T, folder string)) {
	const token = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	tool := harness.File(t, "sentry-cli", filepath.Join(b.folder, "..", "sentrycli", "node_modules", ".bin", "sentry-cli"), harness.Packages)
	backend, endpoint := harness.NewSink(t), harness.FreeAddress(t)
	c = harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers: {sentry: {endpoint: "ENDPOINT"}}
processors: {symbolicate: {store: {directory: "%s"}, uploads: {endpoint: "%s", token: "%s"}}}
exporters: {otlp_http: {endpoint: "%s", sending_queue: {enabled: false}}}
service: {pipelines: {profiles: {receivers: [sentry], processors: [symbolicate], exporters: [otlp_http]}}}
`, t.TempDir(), endpoint, token, backend.URL())})
	return c, backend, func(t *testing.T, folder string) {
		for _, command := range []string{"inject", "upload"} {
			run := exec.Command(tool, "--url", "http://"+endpoint, "--auth-token", token, "sourcemaps", command, folder)
			run.Env = append(os.Environ(), "SENTRY_ORG=any", "SENTRY_PROJECT=any")
			output, err := run.CombinedOutput()
			require.NoError(t, err, "%s", output)
		}
	}
}

// minify builds minified-app.js, and returns the folder.
func (b browser) minify(t *testing.T, bundler string) (folder string) {
	folder = t.TempDir()
	build := exec.Command(b.node, "minify.mjs", bundler, "minified-app.js", folder)
	build.Dir = b.folder
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return folder
}

// profile opens a page with the build, and returns its profile. If a source is given, all busy
// functions must be in it: the profile is sent again until the collector has opened the source map.
func (b browser) profile(t *testing.T, c *harness.Collector, folder string, backend *harness.Sink, source string) pprofile.Profiles {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Document-Policy", "js-profiling") // browsers do not sample without it
		_, _ = w.Write([]byte(`<!doctype html><title>Storefront</title><link rel="icon" href="data:,"><script src="/assets/app.js"></script>`))
	})
	mux.Handle("/assets/", http.StripPrefix("/assets/", http.FileServer(http.Dir(folder))))
	site := httptest.NewServer(mux)
	defer site.Close()
	backend.DrainProfiles()
	traffic := b.run(t, "minified.mjs", site.URL+"/?dsn="+url.QueryEscape("http://"+harness.TestKey+"@"+c.Address+"/42"))
	require.Empty(t, traffic.Errors)
	i := slices.IndexFunc(traffic.Requests, func(r browserRequest) bool { return slices.Contains(r.items(), "profile_chunk") })
	require.GreaterOrEqual(t, i, 0, "no profile in %d requests", len(traffic.Requests))
	if source == "" {
		return decode(t, backend)
	}
	var p pprofile.Profiles
	require.Eventually(t, func() bool {
		backend.DrainProfiles()
		got := c.Send(t, harness.EnvelopeRequest([]byte(traffic.Requests[i].Body)))
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		p = decode(t, backend)
		return strings.Contains(strings.Join(p.Dictionary().StringTable().AsRaw(), "\n"), source)
	}, time.Minute, 100*time.Millisecond, "names of %s", source)
	return p
}

func decode(t *testing.T, backend *harness.Sink) pprofile.Profiles {
	require.Eventually(t, func() bool { return backend.Count(harness.ProfilesPath) > 0 }, time.Minute, time.Millisecond)
	messages := backend.DrainProfiles() // several, if earlier ones were held until the files were open
	p, err := harness.DecodeProfiles(messages[len(messages)-1])
	require.NoError(t, err)
	return p
}

// counts has the number of samples by busy function.
type counts map[string]int64

// add counts the samples of a profile by the innermost busy function.
func (c counts) add(t *testing.T, p pprofile.Profiles) {
	reader, total := timeline.NewReader(p.Dictionary()), int64(0)
	for _, resource := range p.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				read := reader.Read(profile)
				for _, sample := range read.Selected(timeline.Filter{}) {
					if name := innermost(read, sample); name != "" {
						c[name] += sample.Count
						total += sample.Count
					}
				}
			}
		}
	}
	require.Greater(t, total, int64(100), "samples of busy functions")
}

func innermost(p *timeline.Profile, sample *timeline.Sample) string {
	for _, location := range p.Stacks[sample.Stack] {
		for _, line := range p.Locations[location].Lines {
			if name := p.Frames[line.Frame].Name; slices.Contains(busy, name) {
				return name
			}
		}
	}
	return ""
}

// difference returns the largest difference of shares, in percentage points.
func (c counts) difference(other counts) (largest float64) {
	for _, name := range busy {
		largest = max(largest, math.Abs(c.share(name)-other.share(name)))
	}
	return largest
}

func (c counts) share(name string) float64 {
	total := int64(0)
	for _, n := range c {
		total += n
	}
	return 100 * float64(c[name]) / float64(max(total, 1))
}
