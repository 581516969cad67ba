// SPDX-License-Identifier: Apache-2.0

package processor

import (
	"cmp"
	"debug/macho"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestSymbolicateNative: stripped programs print the addresses of their stacks, which a chunk
// sends. Names are those of the program before it was stripped.
func TestSymbolicateNative(t *testing.T) {
	directory, backend := t.TempDir(), harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers: {sentry: {endpoint: "ENDPOINT"}}
processors: {symbolicate: {store: {directory: "%s", scan_interval: 100ms}}}
exporters: {otlp_http: {endpoint: "%s", sending_queue: {enabled: false}}}
service: {pipelines: {profiles: {receivers: [sentry], processors: [symbolicate], exporters: [otlp_http]}}}
`, directory, backend.URL())})
	// eventually sends a stack until it has names.
	eventually := func(t *testing.T, platform, image string, addresses []uint64, want ...string) {
		t.Helper()
		var frames, stack []string
		for i, address := range addresses {
			frames, stack = append(frames, fmt.Sprintf(`{"instruction_addr":"%#x"}`, address)), append(stack, fmt.Sprint(i))
		}
		chunk := harness.Chunk{
			Platform: platform, Frames: strings.Join(frames, ","), Stacks: "[" + strings.Join(stack, ",") + "]",
			More: `"debug_meta":{"images":[` + image + `]},`,
		}
		text := ""
		named := assert.Eventually(t, func() bool {
			got := c.Send(t, chunk.Request())
			require.Equal(t, http.StatusOK, got.Status, got.Body)
			profiles, err := harness.DecodeProfiles(backend.OneProfile(t))
			require.NoError(t, err)
			text = strings.ReplaceAll(dictionarytest.Dump(profiles), `"`, "")
			at := 0
			for _, line := range want { // in this order
				i := strings.Index(text[at:], line)
				if i < 0 {
					return false
				}
				at += i + len(line)
			}
			return true
		}, time.Minute, 100*time.Millisecond)
		if !named {
			t.Fatalf("%q is not in\n%s", want, text)
		}
	}

	t.Run("C++", func(t *testing.T) {
		program := filepath.Join(t.TempDir(), "shop")
		const buildID = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00"
		run(t, "g++", "-g", "-O1", "-Wl,--build-id=0x"+buildID, "-o", program, "testdata/native/shop.cc")
		run(t, "objcopy", "--only-keep-debug", program, filepath.Join(directory, "shop.debug"))
		run(t, "strip", program)
		base, stack := printed(t, program)
		eventually(t, "native", elfImage(buildID, base), stack,
			"shop::Cart::checkout ", "shop.cc:18", "discount ", "shop.cc:24 inlined", "shop::pay ", "shop.cc:26", "main ", "shop.cc:31")
	})
	t.Run("Go", func(t *testing.T) {
		program := filepath.Join(directory, "shop")
		const buildID = "0123456789abcdef0123456789abcdef01234567"
		t.Setenv("CGO_ENABLED", "0")
		run(t, "go", "build", "-trimpath", "-ldflags=-s -w -buildid= -B 0x"+buildID, "-o", program, "testdata/native/shop.go")
		base, stack := printed(t, program)
		eventually(t, "native", elfImage(buildID, base), stack, "main.(*cart).checkout", "main.pay", "main.main", "runtime.main", "runtime.goexit")
	})
	t.Run("dSYM", func(t *testing.T) {
		library := filepath.Join(t.TempDir(), "shop.dylib")
		object := strings.TrimSuffix(library, ".dylib") + ".o"
		harness.Tool(t, "lld", harness.Debian+"lld")
		run(t, "clang", "-target", "arm64-apple-macos11", "-g", "-O1", "-c", "-o", object, "testdata/native/shop.c")
		run(t, "clang", "-target", "arm64-apple-macos11", "-fuse-ld=lld", "-nostdlib", "-dynamiclib", "-Wl,-platform_version,macos,11.0,11.0", "-o", library, object)
		run(t, "dsymutil", "-o", filepath.Join(directory, "shop.dSYM"), library)
		file, err := macho.Open(library)
		require.NoError(t, err)
		defer file.Close()
		address := map[string]uint64{}
		for _, s := range file.Symtab.Syms {
			address[s.Name] = s.Value
		}
		id := ""
		for _, l := range file.Loads {
			if raw := l.Raw(); binary.LittleEndian.Uint32(raw) == 0x1b { // LC_UUID
				id = hex.EncodeToString(raw[8:24])
			}
		}
		const start = 0x104f98000
		base := file.Segment("__TEXT").Addr
		image := fmt.Sprintf(`{"type":"macho","debug_id":"%s","image_addr":"%#x","image_vmaddr":"%#x","image_size":65536}`, id, uint64(start), base)
		require.NotZero(t, address["_checkout"])
		// The return address of the call in reserve is the first address of checkout.
		eventually(t, "cocoa", image, []uint64{start + address["_fail"] - base, start + address["_checkout"] - base},
			"fail ", "shop.c", "reserve ", "shop.c:6")
		eventually(t, "cocoa", image, []uint64{start + address["_checkout"] - base}, "checkout ", "shop.c")
	})
}

// run runs a tool, and skips the test without it.
func run(t *testing.T, tool string, arguments ...string) string {
	t.Helper()
	packages := map[string]string{"dsymutil": "llvm", "go": "golang"}
	harness.Tool(t, tool, harness.Debian+cmp.Or(packages[tool], tool))
	output, err := exec.Command(tool, arguments...).CombinedOutput()
	require.NoError(t, err, "%s", output)
	return string(output)
}

// printed returns the image base and the stack that a program prints.
func printed(t *testing.T, program string) (base uint64, stack []uint64) {
	t.Helper()
	output, err := exec.Command(program).Output()
	require.NoError(t, err)
	for _, line := range strings.Fields(string(output)) {
		var address uint64
		_, err := fmt.Sscanf(line, "0x%x", &address)
		require.NoError(t, err)
		stack = append(stack, address)
	}
	require.Greater(t, len(stack), 3)
	return stack[0], stack[1:]
}

// elfImage returns the image of a program as SDKs for native code describe it.
func elfImage(buildID string, base uint64) string {
	id, _ := hex.DecodeString(buildID)
	return fmt.Sprintf(`{"type":"elf","code_file":"/app/shop","code_id":"%s","debug_id":"%02x%02x%02x%02x-%02x%02x-%02x%02x-%x-%x","image_addr":"%#x","image_size":16777216}`,
		buildID, id[3], id[2], id[1], id[0], id[5], id[4], id[7], id[6], id[8:10], id[10:16], base)
}
