// SPDX-License-Identifier: Apache-2.0

//go:build linux

package symbols_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/proguard"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/sourcemap"
)

// peerRequest and peerResult are those of testdata/peer.py.
type peerRequest struct {
	Kind   string  `json:"kind"`
	File   string  `json:"file"`
	Script string  `json:"script"`
	Places [][]any `json:"places"`
}

type peerResult struct {
	Open, Lookups, Misses float64
	Found                 int
}

const peerPlaces = 50_000

// TestPeer times Sentry's library and this one on the same files and places, in CPU seconds. It
// checks that both find about as many names.
func TestPeer(t *testing.T) {
	python, bundles := os.Getenv("SYMBOLIC_PYTHON"), os.Getenv("SYMBOLIC_BUNDLES")
	if python == "" || bundles == "" {
		t.Skip("run make symbolic: it needs Python's package symbolic, and bundles from npm")
	}
	t.Log("| File | MB | Open, MB per CPU second | symbolic | Lookup, µs | symbolic | of which the call from Python |")
	for _, c := range []struct {
		request peerRequest
		own     func(t *testing.T, r *peerRequest) (open, lookups time.Duration, found int)
	}{
		{peerRequest{Kind: "source map", File: filepath.Join(bundles, "typescript.min.js.map"), Script: filepath.Join(bundles, "typescript.min.js")}, ownSourceMap},
		{peerRequest{Kind: "ELF", File: goProgram(t)}, ownELF},
		{peerRequest{Kind: "mapping", File: generatedMapping(t)}, ownMapping},
	} {
		r := c.request
		open, lookups, found := c.own(t, &r)
		line, err := json.Marshal(r)
		require.NoError(t, err)
		command := exec.Command(python, "testdata/peer.py")
		command.Stdin, command.Stderr = bytes.NewReader(line), os.Stderr
		out, err := command.Output()
		require.NoError(t, err)
		var peer peerResult
		require.NoError(t, json.Unmarshal(out, &peer))
		assert.InEpsilon(t, peer.Found, found, 0.02, "%s: names found", r.Kind)
		info, err := os.Stat(r.File)
		require.NoError(t, err)
		mb, each := float64(info.Size())/1e6, 1e6/float64(len(r.Places))
		t.Logf("| %s, %s | %.0f | %.0f | %.0f | %.2f | %.2f | %.2f |", r.Kind, filepath.Base(r.File), mb, mb/open.Seconds(), mb/peer.Open,
			lookups.Seconds()*each, peer.Lookups*each, peer.Misses*each)
	}
}

// cpu returns the CPU time of a call.
func cpu(call func()) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := used()
	call()
	return used() - start
}

func ownSourceMap(t *testing.T, r *peerRequest) (open, lookups time.Duration, found int) {
	script, err := os.ReadFile(r.Script)
	require.NoError(t, err)
	text, err := os.ReadFile(r.File)
	require.NoError(t, err)
	var file *sourcemap.File
	open = cpu(func() {
		work := symbols.NewWork(t.Context(), int64(len(text)+len(script)), sourcemap.Limits, nil)
		m, err := sourcemap.Read(work, text)
		require.NoError(t, err)
		file, err = sourcemap.NewFile(work, m, string(script))
		require.NoError(t, err)
	})
	lines := strings.Split(string(script), "\n")
	random := rand.New(rand.NewPCG(1, 2))
	for len(r.Places) < peerPlaces {
		line := random.IntN(len(lines))
		if len(lines[line]) > 5000 { // those with most of the code
			r.Places = append(r.Places, []any{line + 1, 1 + random.IntN(len(lines[line]))})
		}
	}
	var frames []symbols.Frame
	lookups = cpu(func() {
		for _, p := range r.Places {
			if frames, _ = file.Call(frames[:0], "", int64(p[0].(int)), int64(p[1].(int))); len(frames) > 0 {
				found++
			}
		}
	})
	return open, lookups, found
}

func ownELF(t *testing.T, r *peerRequest) (open, lookups time.Duration, found int) {
	var table *native.Table
	open = cpu(func() {
		file, err := os.Open(r.File)
		require.NoError(t, err)
		defer file.Close()
		info, err := file.Stat()
		require.NoError(t, err)
		objects, err := native.Identify(file, info.Size())
		require.NoError(t, err)
		index, err := os.Create(filepath.Join(t.TempDir(), "index"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = index.Close() })
		_, err = native.Index(symbols.NewWork(t.Context(), objects[0].Size, native.Limits, nil), index, file, objects[0])
		require.NoError(t, err)
		written, err := index.Stat()
		require.NoError(t, err)
		table, err = native.Open(index, written.Size())
		require.NoError(t, err)
	})
	random := rand.New(rand.NewPCG(1, 2))
	for range peerPlaces {
		r.Places = append(r.Places, []any{0x1000 + random.IntN(8<<20)}) // of the code, relative to the start of the image
	}
	var frames []symbols.Frame
	lookups = cpu(func() {
		for _, p := range r.Places {
			if frames, _ = table.Lookup(frames[:0], table.Base()+uint64(p[0].(int)), native.Leaf); len(frames) > 0 {
				found++
			}
		}
	})
	return open, lookups, found
}

func ownMapping(t *testing.T, r *peerRequest) (open, lookups time.Duration, found int) {
	var m *proguard.Mapping
	open = cpu(func() {
		file, err := os.Open(r.File)
		require.NoError(t, err)
		defer file.Close()
		m, err = proguard.Read(symbols.NewWork(t.Context(), 1<<28, proguard.Limits, nil), file)
		require.NoError(t, err)
	})
	random := rand.New(rand.NewPCG(1, 2))
	for range peerPlaces {
		r.Places = append(r.Places, []any{fmt.Sprintf("a.c%d", random.IntN(mappingClasses)), fmt.Sprintf("m%d", random.IntN(20)), 1 + random.IntN(5)})
	}
	var frames []symbols.Frame
	lookups = cpu(func() {
		for _, p := range r.Places {
			frames, _ = m.Lookup(frames[:0], proguard.Place{Class: p[0].(string), Method: p[1].(string), Line: int64(p[2].(int))})
			if len(frames) > 0 {
				found++
			}
		}
	})
	return open, lookups, found
}

// goProgram builds a Go program with DWARF.
func goProgram(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "envelope")
	command := exec.Command("go", "build", "-trimpath", "-ldflags=-compressdwarf=false", "-o", path, "../../../cmd/envelope")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return path
}

const mappingClasses = 20_000

// generatedMapping writes a mapping of R8 with 20 methods per class.
func generatedMapping(t *testing.T) string {
	var text bytes.Buffer
	for class := range mappingClasses {
		fmt.Fprintf(&text, "com.example.shop.feature%d.Class%d -> a.c%d:\n# {\"id\":\"sourceFile\",\"fileName\":\"Class%d.kt\"}\n", class%100, class, class, class)
		for method := range 20 {
			fmt.Fprintf(&text, "    1:5:void method%d(java.lang.String,int):%d:%d -> m%d\n", method, 10*method, 10*method+4, method)
		}
	}
	path := filepath.Join(t.TempDir(), "mapping.txt")
	require.NoError(t, os.WriteFile(path, text.Bytes(), 0o644))
	return path
}
