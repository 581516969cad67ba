// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// TestHostile: one part is huge or very frequent. The result stays within a multiple of the file,
// and a lookup within the limits.
func TestHostile(t *testing.T) {
	const lines = 80_000
	repeated := func(head, format string) string {
		b := bytes.NewBufferString(head)
		for i := range lines {
			fmt.Fprintf(b, format, i)
		}
		return b.String()
	}
	positions := strings.TrimSuffix(repeated("", `"%d":1,`), ",")
	for name, c := range map[string]struct {
		text       string
		unreadable int
	}{
		"members of one name":        {repeated("a.B -> a:\n", "    %d:void b() -> b\n"), lines - maxMembers},
		"members of different names": {repeated("a.B -> a:\n    void b() -> b\n", "    void b() -> c%d\n"), 0},
		"one chain":                  {repeated("a.B -> a:\n", "    1:1:void b%d() -> b\n"), lines - maxMembers},
		"classes":                    {repeated("", "x%d -> y:\n    void b() -> b\n") + "a.B -> a:\n    void b() -> b\n", 0},
		"a long name":                {"a.B -> a:\n    void " + strings.Repeat("b", maxName+1) + "() -> b\n", 1},
		"outline positions":          {"a.B -> a:\n    void b() -> b\n    # {\"id\":\"com.android.tools.r8.outlineCallsite\",\"positions\":{" + positions + "}}\n", 0},
		"rewrite rules":              {repeated("a.B -> a:\n    1:1:void b() -> b\n", "# {\"id\":\"com.android.tools.r8.rewriteFrame\",\"conditions\":[\"throws(%d)\"],\"actions\":[\"removeInnerFrames(9)\"]}\n"), 0},
		"deep JSON":                  {"a.B -> a:\n    void b() -> b\n# {\"id\":" + strings.Repeat("[", maxLine/2) + "\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := read(strings.NewReader(c.text))
			require.NoError(t, err)
			assert.Equal(t, c.unreadable, m.Unreadable)
			assert.LessOrEqual(t, m.Bytes(), int64(2*len(c.text)+1024))
			var frames []symbols.Frame
			m.LookupStack("a", []Place{{Class: "a", Method: "b", Line: 1}, {Class: "a", Method: "b", Signature: m.Signature("(" + strings.Repeat("[[[I", 1000))}}, func(_ int, f []symbols.Frame, _ symbols.Status) {
				frames = append(frames, f...)
			})
			assert.LessOrEqual(t, len(frames), 2*maxChain)
		})
	}
}

// app returns a mapping like those of R8, of some megabytes.
func app(classes int) []byte {
	var b bytes.Buffer
	for i := range classes {
		fmt.Fprintf(&b, "com.example.feature%d.screen.Presenter%d -> a.%x:\n# {\"id\":\"sourceFile\",\"fileName\":\"Presenter%d.kt\"}\n", i%97, i, i, i)
		fmt.Fprintf(&b, "    com.example.feature%d.data.Repository repository -> a\n", i%97)
		line := 0
		for j := range 12 {
			for range 1 + j%3 {
				line += 3
				fmt.Fprintf(&b, "    %d:%d:void com.example.common.Collections.each%d(java.util.List,kotlin.jvm.functions.Function1):%d:%d -> %c\n", line, line+2, j%5, 7*j, 7*j+2, 'a'+j)
				fmt.Fprintf(&b, "    %d:%d:java.lang.Object load%d(java.lang.String,int,com.example.feature%d.data.Repository):%d:%d -> %c\n", line, line+2, j, i%97, 90+line, 90+line, 'a'+j)
			}
		}
	}
	return b.Bytes()
}

// TestMemory: the mapping, and the reader at its largest, need less than the file.
func TestMemory(t *testing.T) {
	text := app(3000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m, err := read(bytes.NewReader(text))
	require.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Zero(t, m.Unreadable)
	t.Logf("%d bytes of text, %d in memory (%.0f %%), %d allocated in total", len(text), m.Bytes(), 100*float64(m.Bytes())/float64(len(text)), after.TotalAlloc-before.TotalAlloc)
	assert.Less(t, m.Bytes(), int64(len(text)/4))
	assert.InDelta(t, m.Bytes(), after.HeapAlloc-before.HeapAlloc, float64(len(text)/10))
	runtime.KeepAlive(text)
	runtime.KeepAlive(m)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("a.B -> a:\n# {\"id\":\"sourceFile\",\"fileName\":\"B.kt\"}\n    1:3:int c.D.e(int[],a.B):5:7 -> f\n    1:3:int g(int):9 -> f\n"), "a", "f", "([IL", int64(2))
	f.Add([]byte("a -> a:\n 1:1:void b():0:0 -> b\n# {\"id\":\"com.android.tools.r8.outlineCallsite\",\"positions\":{\"1\":4}}"), "a", "b", "()V", int64(0))
	f.Fuzz(func(t *testing.T, text []byte, class, method, signature string, line int64) {
		m, err := read(bytes.NewReader(text))
		if err != nil {
			return
		}
		p := Place{Class: class, Method: method, Signature: m.Signature(signature), Line: line}
		original, known := m.Class(class)
		frames, status := m.Lookup(nil, p)
		if slow, slowStatus := m.slowLookup(p); line < maxNumber && (status != slowStatus || !slices.Equal(frames, slow)) {
			t.Fatalf("%+v is not %+v", frames, slow)
		}
		if known == (status == symbols.NoSymbol) || known == (len(frames) == 0) {
			t.Fatalf("class known: %v, %s, %d frames", known, status, len(frames))
		}
		if status == symbols.Ambiguous && len(method) <= maxName && frames[0].Function != original+"."+strings.ToValidUTF8(method, "") {
			t.Fatalf("%q is not the class of %q", frames[0].Function, original)
		}
		m.LookupStack(class, []Place{p, p}, func(_ int, frames []symbols.Frame, _ symbols.Status) {
			for _, f := range frames {
				if f.Line < 0 {
					t.Fatalf("%+v", f)
				}
			}
		})
	})
}

func BenchmarkRead(b *testing.B) {
	text := app(3000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	m, err := read(bytes.NewReader(app(3000)))
	if err != nil {
		b.Fatal(err)
	}
	var frames []symbols.Frame
	b.ReportAllocs()
	for b.Loop() {
		frames, _ = m.Lookup(frames[:0], Place{Class: "a.7ff", Method: "h", Line: 50})
	}
	if len(frames) != 2 {
		b.Fatal(frames)
	}
}
