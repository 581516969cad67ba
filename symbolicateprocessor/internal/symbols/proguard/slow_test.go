// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// read reads a mapping within its limits.
func read(file io.Reader) (*Mapping, error) {
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return Read(symbols.NewWork(context.Background(), int64(len(text)), Limits, nil), strings.NewReader(string(text)))
}

// slowMembers returns all members with an obfuscated name.
func (m *Mapping) slowMembers(c class, obfuscated string) []member {
	x, ok := m.method(c, obfuscated)
	if !ok {
		return nil
	}
	return m.all(x)
}

// slowLookup is Lookup without indexes: it reads all alternatives.
func (m *Mapping) slowLookup(p Place) ([]symbols.Frame, symbols.Status) {
	c, ok := m.class(p.Class)
	if !ok {
		return nil, symbols.NoSymbol
	}
	chains := m.slowAlternatives(c, p)
	if len(chains) == 0 {
		return []symbols.Frame{m.unlisted(c, p)}, symbols.OK
	}
	common := m.slowCommon(c, p, chains)
	if len(common) == 0 {
		return []symbols.Frame{m.unlisted(c, p)}, symbols.Ambiguous
	}
	return common, symbols.OK
}

// slowAlternatives returns the chains that fit the place.
func (m *Mapping) slowAlternatives(c class, p Place) []chain {
	chains := chainsOf(m.slowMembers(c, p.Method))
	if p.Signature != nil {
		chains = withSignature(m, chains, func(x chain) member { return x[len(x)-1] }, p.Signature)
	}
	if p.Line > 0 {
		if at := filtered(chains, func(x chain) bool { return x[0].hasLine(p.Line) }); len(at) > 0 {
			return at
		}
	}
	// Functions without lines are preferred: the others would have reported one of their lines.
	return preferred(chains, func(x chain) bool { return x[0].flags&hasLines == 0 || x[0].hasLine(0) })
}

// slowCommon returns the functions that all chains have, counted from the caller. A line that
// differs is unknown.
func (m *Mapping) slowCommon(c class, p Place, chains []chain) []symbols.Frame {
	result := m.frames(c, p, chains[0])
	for _, x := range chains[1:] {
		other := m.frames(c, p, x)
		n := 0
		for n < min(len(result), len(other)) {
			a, b := &result[len(result)-1-n], other[len(other)-1-n]
			if a.Function != b.Function {
				break
			}
			if a.Line != b.Line {
				a.Line = 0
			}
			n++
		}
		result = result[len(result)-n:]
	}
	return result
}

// frames returns the functions of a chain without those that the compiler synthesized. If there are
// no others, the innermost remains.
func (m *Mapping) frames(c class, p Place, x chain) []symbols.Frame {
	written := slices.DeleteFunc(slices.Clone(x), func(f member) bool { return f.flags&isSynthesized != 0 })
	if len(written) == 0 {
		written = x[:1]
	}
	return m.every(c, p, written)
}

// every returns all functions of a chain.
func (m *Mapping) every(c class, p Place, x chain) []symbols.Frame {
	x = x[max(len(x)-maxChain, 0):]
	frames := make([]symbols.Frame, len(x))
	for i, f := range x {
		original := c.original
		if f.class != 0 {
			original = f.class
		}
		frames[i] = symbols.Frame{
			Function: m.strings.Get(original) + "." + m.strings.Get(f.name),
			File:     m.file(c, original),
			Line:     f.line(p.Line),
		}
	}
	return frames
}

// TestLargeMethods compares lookups in methods with many members, of few kinds, with those that
// read all members.
func TestLargeMethods(t *testing.T) {
	rounds := 30
	if testsize.Full() {
		rounds = 300
	}
	for seed := range uint64(rounds) {
		random := rand.New(rand.NewPCG(seed, 38))
		m, err := read(strings.NewReader(randomMethod(random)))
		require.NoError(t, err)
		c, _ := m.class("a")
		x, _ := m.method(c, "b")
		require.NotNil(t, m.large[x.members])
		for range 200 {
			p := Place{Class: "a", Method: "b", Line: random.Int64N(220) - 2}
			if random.IntN(2) == 0 {
				p.Signature = m.Signature([]string{"(I)V", "(J)V", "()I", "()V", "(La;)V", "broken"}[random.IntN(6)])
			}
			want, wantStatus := m.slowLookup(p)
			got, status := m.Lookup(nil, p)
			require.Equal(t, wantStatus, status, "seed %d, %+v", seed, p)
			for i := range min(len(got), len(want)) {
				if got[i].Line == 0 && want[i].Line == p.Line { // where one alternative keeps lines, and another one has this line by chance
					want[i].Line = 0
				}
			}
			require.Equal(t, want, got, "seed %d, %+v", seed, p)
		}
	}
}

// randomMethod returns a mapping of one obfuscated method, whose functions have a common caller or
// do not.
func randomMethod(random *rand.Rand) string {
	var b strings.Builder
	b.WriteString("x.A -> a:\n")
	sameCaller := random.IntN(3) > 0
	spread := 1 + random.IntN(40)
	for range 20 + random.IntN(60) {
		from := random.IntN(200)
		to := from + random.IntN(spread)
		if random.IntN(20) == 0 {
			from, to = 0, random.IntN(2)
		}
		place := fmt.Sprintf("%d:%d:", from, to)
		if random.IntN(30) == 0 {
			place = ""
		}
		line := func(function string) {
			original := ""
			switch random.IntN(4) {
			case 0:
				original = fmt.Sprintf(":%d", random.IntN(50))
			case 1:
				first := random.IntN(50)
				original = fmt.Sprintf(":%d:%d", first, first+to-from)
			}
			fmt.Fprintf(&b, "    %s%s%s -> b\n", place, function, original)
			switch random.IntN(40) {
			case 0:
				b.WriteString("# {\"id\":\"com.android.tools.r8.synthesized\"}\n")
			case 1:
				b.WriteString("# {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"(La;)V\"}\n")
			}
		}
		for range random.IntN(3) {
			line(fmt.Sprintf("void y.B.inlined%d()", random.IntN(3)))
		}
		caller := "main"
		if !sameCaller {
			caller = fmt.Sprintf("main%d", random.IntN(2))
		}
		line([]string{"void ", "int "}[random.IntN(2)] + caller + []string{"(int)", "(long)", "()"}[random.IntN(3)])
	}
	for range smallMethod {
		b.WriteString("    300:300:void main(int) -> b\n    301:301:void main(int) -> b\n")
	}
	return b.String()
}
