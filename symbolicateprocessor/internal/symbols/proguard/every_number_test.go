// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// TestLookupsAreLogarithmic counts the chains that a lookup in a method of many lines reads, also
// below a range that contains all others.
func TestLookupsAreLogarithmic(t *testing.T) {
	const n = 20_000
	var b strings.Builder
	b.WriteString("x.A -> a:\n    1:30000:void main():1:30000 -> b\n")
	for i := range n {
		fmt.Fprintf(&b, "    %d:%d:void y.B.c%d():7:7 -> b\n    %[1]d:%[1]d:void main():%d -> b\n", i+1, i+1, i, i+100)
	}
	m, err := read(strings.NewReader(b.String()))
	require.NoError(t, err)
	c, _ := m.class("a")
	x, _ := m.method(c, "b")
	l := m.large[x.members]
	require.Len(t, l.chains, n+1)
	for _, line := range []int64{1, n / 2, n, n + 1, 40_000} {
		found := 0
		visited, _ := atLine(l.chains, line, func(chainAt) bool { found++; return true })
		assert.LessOrEqual(t, visited, 4*bits.Len(n)*(found+1), "line %d", line)
		frames, _ := m.Lookup(nil, Place{Class: "a", Method: "b", Line: line})
		require.Len(t, frames, 1)
		assert.Equal(t, "x.A.main", frames[0].Function)
	}
	// The functions that all lines share are known before the lookup.
	allocated := testing.AllocsPerRun(10, func() { m.Lookup(nil, Place{Class: "a", Method: "b"}) })
	assert.Less(t, allocated, 20.0)
}

// TestManyAlternatives: a place with more chains than maxAlternatives is ambiguous, and signatures
// do not select among more than maxOverloads.
func TestManyAlternatives(t *testing.T) {
	var b strings.Builder
	b.WriteString("x.A -> a:\n")
	for i := range maxOverloads + maxAlternatives {
		fmt.Fprintf(&b, "    1:%d:void main(p.C%d) -> b\n", i+1, i)
	}
	m, err := read(strings.NewReader(b.String()))
	require.NoError(t, err)
	frames, status := m.Lookup(nil, Place{Class: "a", Method: "b", Line: 1, Signature: m.Signature("(Lp/C5;)V")})
	assert.Equal(t, symbols.Ambiguous, status)
	assert.Equal(t, "x.A.b", frames[0].Function)
	frames, status = m.Lookup(nil, Place{Class: "a", Method: "b", Line: maxOverloads + maxAlternatives})
	assert.Equal(t, symbols.OK, status)
	assert.Equal(t, "x.A.main", frames[0].Function)
}

// TestGrowth: reading twice as much of one part needs twice the work and the memory, whatever the
// part.
func TestGrowth(t *testing.T) {
	n := 5_000
	if testsize.Full() {
		n = 40_000
	}
	for name, line := range map[string]func(i int) string{
		"members of one name": func(i int) string { return fmt.Sprintf("    %d:%d:void b() -> b\n", i, i) },
		"signatures":          func(i int) string { return fmt.Sprintf("    void b(p%d) -> b\n", i) },
		"one range":           func(i int) string { return fmt.Sprintf("    1:1:void b%d() -> b\n", i) },
		"ranges in ranges":    func(i int) string { return fmt.Sprintf("    %d:%d:void b() -> b\n", i, 1<<30-i) },
		"different names":     func(i int) string { return fmt.Sprintf("    void b() -> c%d\n", i) },
		"classes":             func(i int) string { return fmt.Sprintf("x%d -> y:\n    void b() -> b\n", i) },
		"files": func(i int) string {
			return fmt.Sprintf("x%d -> y%d:\n# {\"id\":\"sourceFile\",\"fileName\":\"a\"}\n", i, i)
		},
		"synthesized":                 func(i int) string { return fmt.Sprintf("    1:1:void b%d() -> b\n# {\"id\":\"synthesized\"}\n", i) },
		"long names":                  func(i int) string { return fmt.Sprintf("    void b() -> %s%d\n", strings.Repeat("n", 200), i) },
		"fields, comments, no member": func(i int) string { return fmt.Sprintf("    int b%d -> b\n# comment\n    :::\n", i) },
	} {
		var perByte [2]float64
		for i := range perByte {
			b := bytes.NewBufferString("x.A -> a:\n    void main() -> a\n")
			for j := range n << i {
				b.WriteString(line(j))
			}
			work := symbols.NewWork(context.Background(), int64(b.Len()), Limits, nil)
			size := b.Len()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m, err := Read(work, b)
			runtime.ReadMemStats(&after)
			require.NoError(t, err, name)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64*size)+4<<20, name)
			assert.LessOrEqual(t, m.Bytes(), work.Peak(), name)
			perByte[i] = float64(work.Steps()) / float64(size)
		}
		assert.LessOrEqual(t, perByte[1], 1.2*perByte[0], name)
	}
}

// TestEveryNumber generates mappings with extreme numbers in all places: inverted, overlapping,
// repeated and unsorted ranges, annotations of lines that do not exist.
func TestEveryNumber(t *testing.T) {
	rounds := 300
	if testsize.Full() {
		rounds = 5_000
	}
	random := rand.New(rand.NewPCG(38, 2))
	numbers := []string{"", "0", "1", "2", "3", "65535", "65536", "2147483647", "2147483648", "4294967295", "4294967296", "18446744073709551616", "-1", "x", "00000000000000000001"}
	number := func() string { return numbers[random.IntN(4+random.IntN(2)*(len(numbers)-4))] }
	lines := []int64{math.MinInt64, -1, 0, 1, 2, 3, 65535, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, math.MaxInt64}
	for round := range rounds {
		var b strings.Builder
		for class := range 1 + random.IntN(3) {
			fmt.Fprintf(&b, "x.A%d -> a:\n", class)
			for range random.IntN(smallMethod + random.IntN(60)) {
				switch random.IntN(12) {
				case 0:
					fmt.Fprintf(&b, "# {\"id\":\"com.android.tools.r8.outlineCallsite\",\"positions\":{\"%s\":%d,\"1\":4294967295}}\n", number(), random.IntN(5))
				case 1:
					fmt.Fprintf(&b, "# {\"id\":\"com.android.tools.r8.rewriteFrame\",\"conditions\":[\"throws(Lx;)\"],\"actions\":[\"removeInnerFrames(%s)\"]}\n", number())
				case 2:
					b.WriteString("# {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"(I)V\"}\n")
				case 3:
					b.WriteString("# {\"id\":\"com.android.tools.r8.synthesized\"}\n")
				case 4:
					b.WriteString("# {\"id\":\"com.android.tools.r8.outline\"}\n")
				default:
					fmt.Fprintf(&b, "    %s:%s:void f%d(int):%s:%s -> b\n", number(), number(), random.IntN(3), number(), number())
				}
			}
		}
		m, err := read(strings.NewReader(b.String()))
		require.NoError(t, err)
		for _, line := range lines {
			p := Place{Class: "a", Method: "b", Line: line}
			if line%2 != 0 {
				p.Signature = m.Signature("(I)V")
			}
			frames, status := m.Lookup(nil, p)
			if slow, slowStatus := m.slowLookup(p); line < maxNumber {
				require.Equal(t, slowStatus, status, "round %d, %+v in\n%s", round, p, b.String())
				for i := range min(len(frames), len(slow)) {
					require.Equal(t, slow[i].Function, frames[i].Function, "round %d, %+v in\n%s", round, p, b.String())
				}
			}
			m.LookupStack("x", []Place{p, {Class: "a", Method: "b", Line: 1}, p}, func(_ int, frames []symbols.Frame, _ symbols.Status) {
				require.LessOrEqual(t, len(frames), maxChain)
				for _, f := range frames {
					require.GreaterOrEqual(t, f.Line, int64(0))
				}
			})
		}
	}
}
