// SPDX-License-Identifier: Apache-2.0

package perfetto_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto"
)

// oracle is a line of testdata/oracle.py: a trace, and what a slow reader makes of it.
type oracle struct {
	Trace []byte
	wantTrace
}

// wantTrace is a trace in words.
type wantTrace struct {
	Samples []wantSample `json:"samples"`
	Period  int64        `json:"period"`
	Lost    wantLost     `json:"lost"`
}

type wantSample struct {
	Time   uint64      `json:"time"`
	TID    uint32      `json:"tid"`
	Thread string      `json:"thread"`
	Mode   uint8       `json:"mode"`
	Unwind uint8       `json:"unwind"`
	Stack  []wantFrame `json:"stack"`
}

type wantFrame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     uint32 `json:"line"`
	Path     string `json:"path"`
	BuildID  string `json:"build_id"`
	Java     bool   `json:"java"`
	Address  uint64 `json:"address"`
}

type wantLost struct {
	Skipped int `json:"skipped"`
	Stacks  int `json:"stacks"`
	Clocks  int `json:"clocks"`
	Frames  int `json:"frames"`
}

// words resolves the indices of a trace.
func words(t *perfetto.Trace) (r wantTrace) {
	for _, s := range t.Samples {
		thread := t.Threads[s.Thread]
		sample := wantSample{Time: s.Time, TID: thread.TID, Thread: t.Strings[thread.Name], Mode: uint8(s.Mode), Unwind: uint8(s.Unwind)}
		for _, i := range t.Stacks.At(s.Stack) {
			f := t.Frames[i]
			m := t.Mappings[f.Mapping]
			address, _ := t.Address(f)
			sample.Stack = append(sample.Stack, wantFrame{
				Function: t.Strings[f.Function], File: t.Strings[f.File], Line: f.Line, Path: t.Strings[m.Path],
				BuildID: hex.EncodeToString([]byte(t.Strings[m.BuildID])), Java: m.Java, Address: address,
			})
		}
		r.Samples = append(r.Samples, sample)
	}
	r.Period = int64(t.Period)
	r.Lost = wantLost{t.Lost.Skipped, t.Lost.Stacks, t.Lost.Clocks, t.Lost.Frames}
	return r
}

func checkOracle(t *testing.T, lines []byte) {
	count := 0
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var want oracle
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &want))
		count++
		got, err := perfetto.Parse(want.Trace)
		switch {
		case len(want.Samples) > 0:
			require.NoError(t, err, "line %d", count)
			require.Equal(t, want.wantTrace, words(got), "line %d", count)
			require.Zero(t, got.Lost.Packets, "line %d", count)
			checkTables(t, got)
		case want.Lost.Clocks > 0:
			require.ErrorIs(t, err, perfetto.ErrNoClock, "line %d", count)
		default:
			require.ErrorIs(t, err, perfetto.ErrEmpty, "line %d", count)
		}
	}
	require.NoError(t, scanner.Err())
	require.Positive(t, count)
}

// TestOracle: a trace means what a slow reader over the published protos makes of it. The lines are
// those of
//
//	python testdata/oracle.py 1 2 … 20
//
// with the package perfetto 0.59.1 of PyPI.
func TestOracle(t *testing.T) {
	lines, err := os.ReadFile("testdata/oracle.jsonl")
	require.NoError(t, err)
	checkOracle(t, lines)
}

// TestFreshOracle is TestOracle with traces of its own, where Python has the package.
func TestFreshOracle(t *testing.T) {
	python := os.Getenv("PERFETTO_PYTHON")
	if python == "" {
		t.Skip("set PERFETTO_PYTHON to a Python with the package perfetto, for traces that are not in testdata/oracle.jsonl")
	}
	arguments := []string{"testdata/oracle.py"}
	for range 500 {
		arguments = append(arguments, strconv.Itoa(rand.IntN(1<<30)))
	}
	lines, err := exec.Command(python, arguments...).Output()
	require.NoError(t, err)
	checkOracle(t, lines)
}

// checkTables: every index is in range, every entry is once and is used.
func checkTables(t testing.TB, trace *perfetto.Trace) {
	usedFrames, usedStacks := map[int32]bool{}, map[int32]bool{}
	last := uint64(0)
	for _, s := range trace.Samples {
		if s.Time < last || int(s.Stack) >= trace.Stacks.Len() || int(s.Thread) >= len(trace.Threads) {
			t.Fatal("odd sample", s)
		}
		last = s.Time
		usedStacks[s.Stack] = true
	}
	entries := map[string]bool{}
	for i := range int32(trace.Stacks.Len()) {
		for _, frame := range trace.Stacks.At(i) {
			usedFrames[frame] = true
		}
	}
	for _, text := range trace.Strings {
		if entries[text] {
			t.Fatalf("text %.20q twice", text)
		}
		entries[text] = true
	}
	for i, f := range trace.Frames {
		if !usedFrames[int32(i)] || int(max(f.Function, f.File)) >= len(trace.Strings) || int(f.Mapping) >= len(trace.Mappings) {
			t.Fatal("odd frame", i, f)
		}
	}
	for _, m := range trace.Mappings {
		if int(max(m.Path, m.BuildID)) >= len(trace.Strings) {
			t.Fatal("odd mapping", m)
		}
	}
}
