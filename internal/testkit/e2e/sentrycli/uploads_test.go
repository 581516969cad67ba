// SPDX-License-Identifier: Apache-2.0

package sentrycli

import (
	"debug/elf"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

const symbolsFolder = "../../../../symbolicateprocessor/internal/symbols/"

// TestUploads: the commands of existing builds upload symbol files to the collector, and the next
// profiles have their names.
func TestUploads(t *testing.T) {
	const uploadToken = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	tool := findSentryCLI(t)
	backend, endpoint, directory, build := harness.NewSink(t), harness.FreeAddress(t), t.TempDir(), t.TempDir()
	c := harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers: {sentry: {endpoint: "ENDPOINT"}}
processors: {symbolicate: {store: {directory: "%s"}, uploads: {endpoint: "%s", token: "%s"}}}
exporters: {otlp_http: {endpoint: "%s", sending_queue: {enabled: false}}}
service: {pipelines: {profiles: {receivers: [sentry], processors: [symbolicate], exporters: [otlp_http]}}}
`, directory, endpoint, uploadToken, backend.URL())})
	run := func(token string, arguments ...string) (string, error) {
		command := exec.Command(tool, append([]string{"--url", "http://" + endpoint, "--auth-token", token}, arguments...)...)
		command.Dir = build
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + build, "SENTRY_ORG=o", "SENTRY_PROJECT=p"}
		output, err := command.CombinedOutput()
		return string(output), err
	}
	upload := func(arguments ...string) {
		t.Helper()
		output, err := run(uploadToken, arguments...)
		require.NoError(t, err, output)
		t.Log(arguments, output)
	}
	// eventually sends a chunk until a frame has a name.
	eventually := func(chunk harness.Chunk, want string) {
		t.Helper()
		text := ""
		require.Eventually(t, func() bool {
			got := c.Send(t, chunk.Request())
			require.Equal(t, http.StatusOK, got.Status, got.Body)
			profiles, err := harness.DecodeProfiles(backend.OneProfile(t))
			require.NoError(t, err)
			text = dictionarytest.Dump(profiles)
			return strings.Contains(text, want)
		}, time.Minute, 50*time.Millisecond, "want %s", want)
	}
	copyFile := func(from, to string) {
		content, err := os.ReadFile(symbolsFolder + from)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(build, to)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(build, to), content, 0o644))
	}

	t.Run("another token", func(t *testing.T) {
		copyFile("proguard/testdata/shop.txt", "mapping.txt")
		output, err := run(strings.ReplaceAll(uploadToken, "0", "1"), "upload-proguard", "mapping.txt")
		assert.Error(t, err)
		assert.Contains(t, output, "invalid token")
	})
	t.Run("sourcemaps", func(t *testing.T) {
		copyFile("sourcemap/testdata/app/esbuild.js", "dist/assets/app.js")
		copyFile("sourcemap/testdata/app/esbuild.js.map", "dist/assets/app.js.map")
		script := filepath.Join(build, "dist/assets/app.js")
		text, err := os.ReadFile(script)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(script, []byte(strings.ReplaceAll(string(text), "esbuild.js.map", "app.js.map")), 0o644))

		const release = "shop@1.0" // of chunks
		upload("releases", "new", release)
		upload("sourcemaps", "upload", "--release", release, "dist")
		line, column := placeOf(string(text), "function l(")
		eventually(harness.Chunk{
			Platform: "javascript",
			Frames:   fmt.Sprintf(`{"function":"l","abs_path":"https://shop.example/assets/app.js","lineno":%d,"colno":%d}`, line, column+len("function l")),
		}, "discountOf basket.ts:8:17 system=l")

		upload("sourcemaps", "inject", "dist")
		upload("sourcemaps", "upload", "--release", release, "dist")
		upload("sourcemaps", "upload", "--release", release, "dist") // again
		upload("releases", "finalize", release)

		injected, err := os.ReadFile(script)
		require.NoError(t, err)
		id := regexp.MustCompile(`debugId=(\S+)`).FindSubmatch(injected)[1]
		line, column = placeOf(string(injected), "function l(")
		eventually(harness.Chunk{
			Platform: "javascript",
			Frames:   fmt.Sprintf(`{"function":"l","abs_path":"https://shop.example/assets/app.js","lineno":%d,"colno":%d}`, line, column+len("function l")),
			More:     fmt.Sprintf(`"debug_meta":{"images":[{"type":"sourcemap","code_file":"https://shop.example/assets/app.js","debug_id":"%s"}]},`, id),
		}, "discountOf basket.ts:8:17 system=l")
	})
	t.Run("upload-proguard", func(t *testing.T) {
		const id = "5f3c1ab0-8d4a-4e65-9b0c-73656e747279"
		upload("upload-proguard", "--uuid", id, "mapping.txt")
		eventually(harness.Chunk{
			Platform: "android", Frames: `{"function":"a","module":"a.b","lineno":6}`,
			More: `"debug_meta":{"images":[{"type":"proguard","uuid":"` + id + `"}]},`,
		}, "com.example.shop.Item.tax Items.kt:30")
	})
	t.Run("debug-files", func(t *testing.T) {
		const buildID = "0123456789abcdef0123456789abcdef01234567"
		program := filepath.Join(build, "program")
		command := exec.Command("go", "build", "-trimpath", "-ldflags=-buildid= -B 0x"+buildID, "-o", program, symbolsFolder+"native/testdata/program")
		command.Env = append(os.Environ(), "CGO_ENABLED=0")
		output, err := command.CombinedOutput()
		require.NoError(t, err, string(output))
		upload("debug-files", "upload", "program")
		address, base := addressOf(t, program, "main.main")
		eventually(harness.Chunk{
			Platform: "native", Frames: fmt.Sprintf(`{"instruction_addr":"%#x"}`, 0x7f0000000000+address-base),
			More: `"debug_meta":{"images":[{"type":"elf","code_id":"` + buildID + `","debug_id":"67452301-ab89-efcd-0123-456789abcdef","image_addr":"0x7f0000000000","image_size":100000000}]},`,
		}, "main.main")
	})
	assert.DirExists(t, filepath.Join(directory, "uploads"))
	assert.NoDirExists(t, filepath.Join(directory, "uploads", "chunks"), "chunks of assembled files are removed, and their empty folder")
	harness.CheckLog(t, c, uploadToken)
}

// placeOf returns line and column of a text, from 1.
func placeOf(script, text string) (line, column int) {
	before := script[:strings.Index(script, text)]
	return strings.Count(before, "\n") + 1, len(before) - strings.LastIndexByte(before, '\n')
}

// addressOf returns the address of a function, and that of the image.
func addressOf(t *testing.T, program, function string) (address, base uint64) {
	file, err := elf.Open(program)
	require.NoError(t, err)
	defer file.Close()
	all, err := file.Symbols()
	require.NoError(t, err)
	for _, s := range all {
		if s.Name == function {
			address = s.Value
		}
	}
	require.NotZero(t, address)
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD {
			return address, p.Vaddr
		}
	}
	return address, 0
}
