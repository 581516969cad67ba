// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/badsymbols"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestHostileSymbols: symbol files that small clients can upload. The collector finds each in its
// directory, is asked for its names, and is started again. Meanwhile it serves a good file.
func TestHostileSymbols(t *testing.T) {
	varies(t, "symbol files that the collector opens, and opens again after a restart")
	for _, a := range symbolAttacks {
		t.Run(a.name, parallel(a.run))
	}
}

type symbolAttack struct {
	name string
	file func() []byte
}

var symbolAttacks = []symbolAttack{
	{"ELF: section names that inflate to 1.25 GiB", func() []byte { return badsymbols.CompressedNames(1280 << 20) }},
	{"ELF: an xz dictionary of 4 GiB", func() []byte { return badsymbols.HugeDictionary(40) }},
	{"ELF: an xz dictionary of 1 GiB", func() []byte { return badsymbols.HugeDictionary(36) }},
	{"ELF: a Go function table with shared parts", func() []byte { return badsymbols.GoTable(10_000) }},
	{"Breakpad: 250 inlined functions of a long name", func() []byte {
		return bytes.Replace(badsymbols.InlinedNames(250, badsymbols.LongName(1600)), []byte("4FBF22D9B8D24BA2A7F8C1E2D3A4B5C60"), []byte(strings.ToUpper(badID)+"0"), 1)
	}},
}

const (
	badID  = "5fbf22d9b8d24ba2a7f8c1e2d3a4b5c6"
	goodID = "6fbf22d9b8d24ba2a7f8c1e2d3a4b5c6"
)

// goodSymbols is a Breakpad file with a function at 1000, and as many others as repeated.
func goodSymbols(repeated int) []byte {
	return []byte("MODULE Linux x86_64 " + strings.ToUpper(goodID) + "0 shop\nFILE 0 cart.cc\nFUNC 1000 10 0 Cart::total\n1000 10 20 0\n" +
		strings.Repeat("FUNC 2000 10 0 Cart::add\n2000 8 21 0\n2008 8 22 0\n", repeated))
}

// chunkWith is a chunk with a frame at 1000 of a program.
func chunkWith(id string) harness.Chunk {
	return harness.Chunk{
		Platform: "native", Frames: `{"instruction_addr":"0x7f0000001000"}`,
		More: `"debug_meta":{"images":[{"type":"elf","code_id":"` + id + `","debug_id":"` + id + `","image_addr":"0x7f0000000000","image_size":1000000}]},`,
	}
}

func symbolSettings(directory string, backend *harness.Sink) harness.Settings {
	return harness.Settings{MemoryLimit: attackLimit, Config: fmt.Sprintf(`
receivers: {sentry: {endpoint: "ENDPOINT"}}
processors: {symbolicate: {store: {directory: "%s", scan_interval: 200ms}, hold: {timeout: 1m}}}
exporters: {otlp_http: {endpoint: "%s", sending_queue: {enabled: false}}}
service:
  pipelines:
    profiles: {receivers: [sentry], processors: [symbolicate], exporters: [otlp_http]}
    traces: {receivers: [sentry], processors: [symbolicate], exporters: [otlp_http]}
    logs: {receivers: [sentry], processors: [symbolicate], exporters: [otlp_http]}
`, directory, backend.URL())}
}

func (a symbolAttack) run(t *testing.T) {
	directory, backend := t.TempDir(), harness.NewSink(t)
	content := a.file()
	require.NoError(t, os.WriteFile(filepath.Join(directory, "good.sym"), goodSymbols(0), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(directory, badID), content, 0o600))
	for _, start := range []string{"first", "second"} {
		c := harness.Start(t, symbolSettings(directory, backend))
		begin, busy := time.Now(), c.CPUTime(t)
		got := c.Send(t, chunkWith(badID).Request())
		took := time.Since(begin)
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		require.Equal(t, http.StatusOK, c.Send(t, chunkWith(goodID).Request()).Status)
		require.Eventually(t, func() bool { return backend.Count(harness.ProfilesPath) == 2 }, 30*time.Second, 10*time.Millisecond)
		named := false
		for _, message := range backend.DrainProfiles() {
			profiles, err := harness.DecodeProfiles(message)
			require.NoError(t, err)
			named = named || strings.Contains(dictionarytest.Dump(profiles), "Cart::total")
		}
		assert.True(t, named, "the good file has names at the %s start", start)
		assert.Less(t, c.CPUTime(t)-busy, longestAnswer)
		reportAttack(t, c, len(content), got.Status, took, memoryLimit)
		c.Stop(t)
	}
	size := int64(0)
	require.NoError(t, filepath.WalkDir(directory, func(_ string, entry fs.DirEntry, err error) error {
		if info, failed := entry.Info(); err == nil && failed == nil && entry.Type().IsRegular() {
			size += info.Size()
		}
		return err
	}))
	assert.Less(t, size, int64(2*len(content)+32<<20), "bytes on the disk")
}

// TestHostileShutdown: SIGTERM while a large file is being indexed, with messages that wait for it.
// All are delivered, and the file is used after the next start.
func TestHostileShutdown(t *testing.T) {
	varies(t, "SIGTERM while a symbol file is read")
	const messages = 50
	functions := 400_000 // 20 MB
	if os.Getenv("ATTACKS") == "full" {
		functions *= 4
	}
	directory, backend := t.TempDir(), harness.NewSink(t)
	require.NoError(t, os.WriteFile(filepath.Join(directory, "good.sym"), goodSymbols(functions), 0o600))
	c := harness.Start(t, symbolSettings(directory, backend))
	for range messages {
		require.Equal(t, http.StatusOK, c.Send(t, chunkWith(goodID).Request()).Status)
	}
	begin := time.Now()
	c.Stop(t)
	t.Logf("stopped after %s", time.Since(begin).Round(time.Millisecond))
	assert.Len(t, backend.DrainProfiles(), messages)

	c = harness.Start(t, symbolSettings(directory, backend))
	require.Equal(t, http.StatusOK, c.Send(t, chunkWith(goodID).Request()).Status)
	require.Eventually(t, func() bool { return backend.Count(harness.ProfilesPath) == 1 }, time.Minute, 100*time.Millisecond)
	profiles, err := harness.DecodeProfiles(backend.OneProfile(t))
	require.NoError(t, err)
	assert.Contains(t, dictionarytest.Dump(profiles), "Cart::total")
}
