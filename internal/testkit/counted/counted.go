// SPDX-License-Identifier: Apache-2.0

// Package counted counts the work of functions, for tests of its growth: the number of executed
// blocks, which does not depend on the machine. Only a program that was built with -cover can count
// them, so a test has one in its folder testdata/counted.
package counted

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/coverage"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/otelcol-sentry/otelcol-sentry/"

// Command builds the program of a test, in which the blocks of packages are counted. ./ is the
// module.
func Command(t *testing.T, packages ...string) *exec.Cmd {
	t.Helper()
	for i, name := range packages {
		if folder, ok := strings.CutPrefix(name, "./"); ok {
			packages[i] = module + folder
		}
	}
	const source = "./testdata/counted" // must be one of the packages
	program := filepath.Join(t.TempDir(), "counted")
	build := exec.Command("go", "build", "-o", program, "-cover", "-covermode=atomic", "-coverpkg="+strings.Join(append(packages, source), ","), source)
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	run := exec.Command(program)
	run.Env = append(run.Environ(), "GOCOVERDIR="+t.TempDir())
	return run
}

// Blocks returns the number of blocks that a function executes.
func Blocks(do func()) (sum float64) {
	if err := coverage.ClearCounters(); err != nil {
		log.Fatal(err)
	}
	do()
	var out bytes.Buffer
	if err := coverage.WriteCounters(&out); err != nil {
		log.Fatal(err)
	}
	// The format is that of the package internal/coverage: a header of 32 bytes; a segment with the
	// number of functions, the lengths of two tables, and the tables; then for each function the
	// number of counters, two indices, and the counters, as ULEB128.
	data := out.Bytes()
	functions := binary.LittleEndian.Uint64(data[32:])
	at := 48 + int(binary.LittleEndian.Uint32(data[40:])) + int(binary.LittleEndian.Uint32(data[44:]))
	at = (at + 3) &^ 3
	next := func() uint64 {
		value, size := binary.Uvarint(data[at:])
		at += size
		return value
	}
	for range functions {
		n := next()
		next()
		next()
		for range n {
			sum += float64(next())
		}
	}
	return sum
}

// Operation prepares work on n elements. What it does itself is not counted.
type Operation func(n int) (work func())

// growth is the number of blocks per element, for n and 2n elements.
type growth struct {
	Name         string
	Small, Large float64
}

// Main is the main function of a program that measures operations on n and on 2n elements.
func Main(n int, operations map[string]Operation) {
	out := json.NewEncoder(os.Stdout)
	for name, operation := range operations {
		operation(n)() // fills caches
		_ = out.Encode(growth{name, Blocks(operation(n)) / float64(n), Blocks(operation(2*n)) / float64(2*n)})
	}
}

// Linear runs a program whose main function is Main. It asserts that twice as many elements cost at
// most a fifth more per element.
func Linear(t *testing.T, packages ...string) {
	t.Helper()
	run := Command(t, packages...)
	run.Stderr = os.Stderr
	output, err := run.Output()
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(output))
	for decoder.More() {
		var g growth
		require.NoError(t, decoder.Decode(&g))
		t.Logf("%s: %.1f, %.1f blocks per element", g.Name, g.Small, g.Large)
		assert.Greater(t, g.Small, 1.0, "%s: the work is counted", g.Name)
		assert.LessOrEqual(t, g.Large, 1.2*g.Small, g.Name)
	}
}
