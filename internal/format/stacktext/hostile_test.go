// SPDX-License-Identifier: Apache-2.0

package stacktext_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

const (
	maxFrames     = 250 // of an exception
	maxExceptions = 50
)

// check verifies invariants of all traces.
func check(t *testing.T, text string, trace stacktext.Trace) {
	t.Helper()
	require.NotEmpty(t, trace.Exceptions)
	require.LessOrEqual(t, len(trace.Exceptions), maxExceptions)
	require.GreaterOrEqual(t, trace.Omitted, 0)
	frames := 0
	for i, e := range trace.Exceptions {
		require.Less(t, e.Parent, i, "an exception stands before those that belong to it")
		require.Equal(t, i == 0, e.Parent == -1)
		require.Equal(t, i == 0, e.Relation == stacktext.Thrown)
		require.LessOrEqual(t, len(e.Frames), maxFrames)
		require.GreaterOrEqual(t, e.Omitted, 0)
		require.LessOrEqual(t, len(e.Type)+len(e.Message), len(text))
		for _, f := range e.Frames {
			if len(f.Function) > len(text)+len(" { <lambda> }") || f == (stacktext.Frame{}) {
				t.Fatalf("frame %+v", f)
			}
		}
		frames += len(e.Frames)
	}
	require.Positive(t, frames)
}

func FuzzParse(f *testing.F) {
	for _, c := range cases(f) {
		f.Add(c.text, int8(c.language))
	}
	f.Fuzz(func(t *testing.T, text string, language int8) {
		trace, ok := stacktext.Parse(text, stacktext.Language(language))
		if !ok {
			return
		}
		check(t, text, trace)
		again, _ := stacktext.Parse(text, stacktext.Language(language))
		require.Equal(t, trace, again)
	})
}

// TestTextWithoutFrames: a text without frames is not parsed.
func TestTextWithoutFrames(t *testing.T) {
	for _, text := range []string{
		"", "\n", "order failed", "ValueError: order failed", "java.lang.Error: x", "Traceback (most recent call last):\n",
		"1: first\n2: second", "0: zero\n1: one", "mail from a@b.example", "see file.py:12 for more", "goroutine 1 [running]:\n",
		"[{'Elixir.Shop.Cart',reserve,1,[{file,\"shop.exs\"},{line,7}]}]", // a shortened term, from Erlang's own API
		"at last (a remark)", "   at once (or later)", "Stack trace:\n#0 {main}", "    * item: x/1 and more",
	} {
		for language := stacktext.Unknown; language <= stacktext.Elixir; language++ {
			trace, ok := stacktext.Parse(text, language)
			assert.False(t, ok, "%q as %s: %v", text, names[language], trace)
		}
	}
}

// TestLongStacksKeepBothEnds: frames in the middle of a stack beyond the limit are dropped and
// counted.
func TestLongStacksKeepBothEnds(t *testing.T) {
	const n = 10_007
	var python, java strings.Builder
	python.WriteString("Traceback (most recent call last):\n")
	java.WriteString("java.lang.Error: deep\n")
	for i := range n {
		fmt.Fprintf(&python, "  File \"shop.py\", line %d, in f%d\n", i+1, i)
		fmt.Fprintf(&java, "\tat shop.Cart.f%d(Cart.java:%d)\n", i, i+1)
	}
	python.WriteString("KeyError: 1\n")
	for _, text := range []string{python.String(), java.String()} {
		trace, ok := stacktext.Parse(text, stacktext.Unknown)
		require.True(t, ok)
		frames := trace.Exceptions[0].Frames
		require.Len(t, frames, maxFrames)
		assert.Equal(t, n-maxFrames, trace.Exceptions[0].Omitted)
		outermost := map[bool]int{true: 0, false: n - 1}[trace.Language == stacktext.Python]
		step := map[bool]int{true: 1, false: -1}[trace.Language == stacktext.Python]
		for i := range maxFrames / 2 {
			assert.Equal(t, fmt.Sprintf("f%d", outermost+step*i), frames[i].Function)
			assert.Equal(t, fmt.Sprintf("f%d", n-1-outermost-step*i), frames[maxFrames-1-i].Function)
		}
	}
}

// TestLongChainsKeepTheThrownException: causes beyond the limit are dropped and counted.
func TestLongChainsKeepTheThrownException(t *testing.T) {
	const n = 1000
	var python, java strings.Builder
	for i := range n {
		fmt.Fprintf(&python, "Traceback (most recent call last):\n  File \"shop.py\", line 1, in f\nE%d: x\n", n-1-i)
		if i < n-1 {
			python.WriteString("\nThe above exception was the direct cause of the following exception:\n\n")
		}
		fmt.Fprintf(&java, "%sE%d: x\n\tat shop.Cart.f(Cart.java:1)\n", map[bool]string{true: "", false: "Caused by: "}[i == 0], i)
	}
	for _, text := range []string{python.String(), java.String()} {
		trace, ok := stacktext.Parse(text, stacktext.Unknown)
		require.True(t, ok)
		require.Len(t, trace.Exceptions, maxExceptions)
		for i, e := range trace.Exceptions {
			assert.Equal(t, fmt.Sprintf("E%d", i), e.Type)
			assert.Equal(t, i-1, e.Parent)
		}
		if trace.Language == stacktext.Python {
			assert.Equal(t, n-maxExceptions, trace.Omitted)
		}
	}
}

// maxTime is the only bound of time here: the parser has nothing to count. A text of megabytes
// takes some milliseconds, and would take many minutes in quadratic time.
const maxTime = time.Minute

// parseLong parses a long text in linear time.
func parseLong(t *testing.T, text string, language stacktext.Language) {
	t.Helper()
	begin := time.Now()
	trace, ok := stacktext.Parse(text, language)
	require.True(t, ok, "%.1000q", text)
	if testsize.Full() {
		require.Less(t, time.Since(begin), maxTime, "%.1000q", text)
	}
	check(t, text, trace)
}

// TestTimeIsLinear parses 1 MB of every line of every case, and of every case.
func TestTimeIsLinear(t *testing.T) {
	size := 1 << 20
	if !testsize.Full() {
		size = 1 << 18
	}
	for _, c := range cases(t) {
		if !testsize.Full() && c.name != "chained" && c.name != "group" && c.name != "files" && c.name != "panic" {
			continue
		}
		t.Run(c.folder+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for _, piece := range append(strings.SplitAfter(c.text, "\n"), c.text, strings.ReplaceAll(c.text, "\n", "")) {
				if piece != "" && !seen[piece] {
					seen[piece] = true
					parseLong(t, c.text+strings.Repeat(piece, size/len(piece)), c.language)
				}
			}
		})
	}
}

// TestTimeOfLongLines: a line may contain many headlines.
func TestTimeOfLongLines(t *testing.T) {
	size := 8 << 20
	if !testsize.Full() {
		size = 1 << 20
	}
	for _, piece := range []string{" ---> ", " ---> x", " ---> (Inner Exception #", " ---> (Inner Exception #1) ", " ---> E: x"} {
		parseLong(t, "System.Exception: x"+strings.Repeat(piece, size/len(piece))+"\n   at Shop.Cart.F()\n", stacktext.DotNet)
	}
}

// TestDeepNesting: chains, groups and margins as deep as a text can make them.
func TestDeepNesting(t *testing.T) {
	const n = 2000
	var group, suppressed, inner strings.Builder
	group.WriteString("  + Exception Group Traceback (most recent call last):\n  |   File \"shop.py\", line 1, in f\n  | ExceptionGroup: x\n")
	suppressed.WriteString("java.lang.Error\n\tat shop.Cart.f(Cart.java:1)\n")
	inner.WriteString("System.Exception: x")
	for i := range n {
		margin := strings.Repeat("  ", i+1)
		fmt.Fprintf(&group, "%s+-+---------------- 1 ----------------\n%s  | ExceptionGroup: x\n", margin, margin)
		fmt.Fprintf(&suppressed, "%sSuppressed: E: x\n", strings.Repeat("\t", i+1))
		inner.WriteString(" ---> System.Exception: x")
	}
	inner.WriteString("\n   at Shop.Cart.F()\n")
	for _, text := range []string{group.String(), suppressed.String(), inner.String()} {
		trace, ok := stacktext.Parse(text, stacktext.Unknown)
		require.True(t, ok, text[:100])
		check(t, text, trace)
		require.Len(t, trace.Exceptions, maxExceptions)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, c := range cases(b) {
		if c.name != "chained" && c.name != "panic" {
			continue
		}
		for name, language := range map[string]stacktext.Language{"known": c.language, "detected": stacktext.Unknown} {
			b.Run(c.folder+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(c.text)))
				b.ReportAllocs()
				for b.Loop() {
					stacktext.Parse(c.text, language)
				}
			})
		}
	}
}
