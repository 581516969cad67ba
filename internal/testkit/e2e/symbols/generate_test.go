// SPDX-License-Identifier: Apache-2.0

//go:build symbols

package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// subject is a symbol file, and a profile that needs it.
type subject struct {
	kind  string
	path  string
	bytes int64
	chunk harness.Chunk
	want  []string // in the text of the profile, when it has names
}

const (
	mib = 1 << 20

	textBytes     = 48 * mib // of a Breakpad file and of a mapping
	sourceBytes   = 32 * mib // in a source map
	functionsInJS = 200_000  // in a script: it has 8 MB, and its map has 1.4 million mappings

	framesPerFile = 100
)

// generate writes files of totalMiB. The largest is this collector with DWARF.
func generate(t *testing.T, directory string) (all []subject) {
	left := int64(totalMiB * mib)
	add := func(s subject) {
		info, err := os.Stat(s.path)
		require.NoError(t, err)
		s.bytes += info.Size()
		all, left = append(all, s), left-s.bytes
	}
	add(program(t, directory, "ELF, the collector", filepath.Join(golden.Root(t), "dist"), nil))
	add(program(t, directory, "ELF, tools", filepath.Join(golden.Root(t), "cmd", "envelope"), nil))
	tool := all[1]
	for range 5 {
		add(program(t, directory, tool.kind, "", &tool))
	}
	for i := range 4 {
		add(breakpad(t, directory, i))
		add(bundle(t, directory, i))
	}
	for left > 0 {
		add(mapping(t, directory))
	}
	return all
}

// program builds a Go program with uncompressed DWARF, or copies one with another build ID.
func program(t *testing.T, directory, kind, source string, known *subject) subject {
	t.Helper()
	buildID := harness.NewID() + "01234567"
	s := subject{kind: kind, path: filepath.Join(directory, "programs", buildID)}
	id, err := hex.DecodeString(buildID)
	require.NoError(t, err)
	if known == nil {
		command := exec.Command("go", "build", "-trimpath", "-ldflags=-compressdwarf=false -buildid= -B 0x"+buildID, "-o", s.path, ".")
		command.Dir = source
		command.Env = append(os.Environ(), "CGO_ENABLED=0")
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
	} else {
		content, err := os.ReadFile(known.path)
		require.NoError(t, err)
		before, err := hex.DecodeString(filepath.Base(known.path))
		require.NoError(t, err)
		require.Equal(t, 1, bytes.Count(content, before))
		require.NoError(t, os.WriteFile(s.path, bytes.Replace(content, before, id, 1), 0o755))
	}
	file, err := elf.Open(s.path)
	require.NoError(t, err)
	defer file.Close()
	symbols, err := file.Symbols()
	require.NoError(t, err)
	base, frames := file.Progs[0].Vaddr, []string(nil)
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD {
			base = p.Vaddr
			break
		}
	}
	for i, f := range symbols {
		if i%(len(symbols)/framesPerFile) == 0 && elf.ST_TYPE(f.Info) == elf.STT_FUNC && f.Size > 1 && !strings.Contains(f.Name, `"`) { // quotes are escaped in the text
			frames = append(frames, fmt.Sprintf(`{"instruction_addr":"%#x"}`, 0x7f0000000000+f.Value+1-base)) // callers are looked up at the byte before
			s.want = append(s.want, f.Name)
		}
	}
	require.NotEmpty(t, frames)
	s.chunk = nativeChunk(frames, `{"type":"elf","code_id":"`+buildID+`","debug_id":"`+debugIDOf(id)+`","image_addr":"0x7f0000000000","image_size":1000000000}`)
	return s
}

func debugIDOf(id []byte) string {
	return fmt.Sprintf("%02x%02x%02x%02x-%02x%02x-%02x%02x-%x-%x", id[3], id[2], id[1], id[0], id[5], id[4], id[7], id[6], id[8:10], id[10:16])
}

func nativeChunk(frames []string, image string) harness.Chunk {
	return harness.Chunk{Platform: "native", Frames: strings.Join(frames, ","), Stacks: stackOf(frames), More: `"debug_meta":{"images":[` + image + `]},`}
}

// stackOf returns a stack with all frames.
func stackOf(frames []string) string {
	var stack []string
	for i := range frames {
		stack = append(stack, fmt.Sprint(i))
	}
	return "[" + strings.Join(stack, ",") + "]"
}

// breakpad writes a Breakpad file.
func breakpad(t *testing.T, directory string, number int) subject {
	id := uuid.NewString()
	var text bytes.Buffer
	fmt.Fprintf(&text, "MODULE Linux x86_64 %s0 shop\n", strings.ToUpper(strings.ReplaceAll(id, "-", "")))
	for i := range 5000 {
		fmt.Fprintf(&text, "FILE %d /build/src/shop/module%d/file%d.cc\n", i, i%50, i)
	}
	const size, lines = 0x100, 10
	functions := 0
	for ; text.Len() < textBytes; functions++ {
		at := 0x1000 + size*functions
		fmt.Fprintf(&text, "FUNC %x %x 0 shop::module%d::Class%d::method%d(int, char const*)\n", at, size, functions%50, functions/20, functions)
		for line := range lines {
			fmt.Fprintf(&text, "%x %x %d %d\n", at+line*size/lines, size/lines, 10+line, functions%5000)
		}
	}
	s := subject{kind: "Breakpad", path: write(t, directory, fmt.Sprintf("breakpad/%d.sym", number), text.Bytes())}
	var frames []string
	for i := range framesPerFile {
		n := i * (functions / framesPerFile)
		frames = append(frames, fmt.Sprintf(`{"instruction_addr":"%#x"}`, 0x7f0000000000+0x1001+size*n))
		s.want = append(s.want, fmt.Sprintf("Class%d::method%d", n/20, n))
	}
	s.chunk = nativeChunk(frames, `{"type":"elf","debug_id":"`+id+`","image_addr":"0x7f0000000000","image_size":1000000000}`)
	return s
}

// bundle writes a minified script with one line, and its source map with the text of the sources.
func bundle(t *testing.T, directory string, number int) subject {
	id, url := uuid.NewString(), fmt.Sprintf("https://shop.example/%d/app.js", number)
	const sources = 1000
	var script, mappings, names, list, content bytes.Buffer
	line := []byte("export function place(order) { return order.items.reduce((sum, item) => sum + item.price * item.quantity, 0); } // source\\n")
	for i := range sources {
		fmt.Fprintf(&list, `"../src/module%d/file%d.ts",`, i%50, i)
		content.WriteString(`"` + strings.Repeat(string(line), sourceBytes/sources/len(line)) + `",`)
	}
	var s subject
	var frames []string
	last := [5]int{} // column, source, line, column, name of the last mapping
	token := func(fields ...int) {
		if mappings.Len() > 0 {
			mappings.WriteByte(',')
		}
		for i, value := range fields {
			vlq(&mappings, value-last[i])
			last[i] = value
		}
	}
	for i := range functionsInJS {
		source, at := i*sources/functionsInJS, i%(functionsInJS/sources)*8
		start := script.Len()
		token(start, source, at, 7) // function
		fmt.Fprintf(&names, `"originalName%d",`, i)
		token(start+len("function "), source, at, 16, i)
		fmt.Fprintf(&script, "function f%d(", i)
		if i%(functionsInJS/framesPerFile) == 0 {
			frames = append(frames, fmt.Sprintf(`{"function":"f%d","abs_path":"%s","lineno":1,"colno":%d}`, i, url, script.Len()))
			s.want = append(s.want, fmt.Sprintf("originalName%d ", i))
		}
		token(script.Len(), source, at, 20)
		for field, part := range []string{"a,b){", "return a", "+b*", "42}"} {
			script.WriteString(part)
			token(script.Len(), source, at+field, 4+field)
		}
	}
	script.WriteString("\n//# debugId=" + id + "\n")
	trim := func(b *bytes.Buffer) []byte { return bytes.TrimSuffix(b.Bytes(), []byte(",")) }
	text := fmt.Appendf(nil, `{"version":3,"debug_id":"%s","sources":[%s],"sourcesContent":[%s],"names":[%s],"mappings":"%s"}`, id, trim(&list), trim(&content), trim(&names), mappings.Bytes())
	s.kind, s.path = "source map", write(t, directory, fmt.Sprintf("js/%d/app.js.map", number), text)
	write(t, directory, fmt.Sprintf("js/%d/app.js", number), script.Bytes())
	s.bytes = int64(script.Len())
	s.chunk = harness.Chunk{
		Platform: "javascript", Frames: strings.Join(frames, ","), Stacks: stackOf(frames),
		More: fmt.Sprintf(`"debug_meta":{"images":[{"type":"sourcemap","code_file":"%s","debug_id":"%s"}]},`, url, id),
	}
	return s
}

// vlq appends a number in base64 VLQ.
func vlq(to *bytes.Buffer, value int) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	bits := value << 1
	if value < 0 {
		bits = -value<<1 | 1
	}
	for ; bits > 31; bits >>= 5 {
		to.WriteByte(digits[bits&31|32])
	}
	to.WriteByte(digits[bits])
}

// mapping writes a mapping of R8.
func mapping(t *testing.T, directory string) subject {
	id := uuid.NewString()
	var text bytes.Buffer
	var frames []string
	s := subject{kind: "R8 mapping"}
	for class := 0; text.Len() < textBytes; class++ {
		fmt.Fprintf(&text, "com.example.shop.feature%d.Class%d -> a.c%d:\n# {\"id\":\"sourceFile\",\"fileName\":\"Class%d.kt\"}\n", class%100, class, class, class)
		for method := range 20 {
			fmt.Fprintf(&text, "    1:5:void method%d(java.lang.String,int):%d:%d -> m%d\n", method, 10*method, 10*method+4, method)
		}
		if class%200 == 0 && len(frames) < framesPerFile {
			frames = append(frames, fmt.Sprintf(`{"function":"m7","module":"a.c%d","lineno":2}`, class))
			s.want = append(s.want, fmt.Sprintf("Class%d.kt:71", class))
		}
	}
	s.path = write(t, directory, "mappings/"+id+".txt", text.Bytes())
	s.chunk = harness.Chunk{
		Platform: "android", Frames: strings.Join(frames, ","), Stacks: stackOf(frames), More: `"debug_meta":{"images":[{"type":"proguard","uuid":"` + id + `"}]},`,
	}
	return s
}

// write writes a file of the directory, and returns its path.
func write(t *testing.T, directory, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(directory, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, content, 0o644))
	return path
}
