// SPDX-License-Identifier: Apache-2.0

package stacktext_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
)

// oracle compares a trace with the structured stack of the same error from the language's own API.
// The same program wrote both. Structured stacks list the outermost frame first.
type oracle struct {
	line  func(f stacktext.Frame) string
	types bool                      // a line with the type precedes the frames of each exception; otherwise, only the frames of the thrown exception are listed
	trim  func(lines string) string // selects the part of the stack that the trace must have
}

var oracles = map[string]oracle{
	"python": {types: true, line: func(f stacktext.Frame) string { return fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line) },
		trim: func(lines string) string {
			return strings.Replace(lines, "JSONDecodeError", "json.decoder.JSONDecodeError", 1)
		}},
	"java": {types: true, line: func(f stacktext.Frame) string {
		line := f.Module + "." + f.Function
		if f.File != "" {
			line += " " + f.File
		}
		return line + position(f.Line)
	}, trim: func(lines string) string {
		// The text omits the file of a native method.
		return regexp.MustCompile(`(invoke0) NativeMethodAccessorImpl.java\n`).ReplaceAllString(lines, "$1\n")
	}},
	"ruby": {types: true, line: func(f stacktext.Frame) string { return fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line) }},
	"v8": {line: func(f stacktext.Frame) string {
		if f.Line == 0 { // a built-in function: only the text has a placeholder for its file
			return ""
		}
		return f.File + position(f.Line) + position(f.Column)
	}, trim: func(lines string) string {
		// For evaluated code, the structured stack has positions in that code, and the trace has
		// the position of the call of eval.
		return strings.NewReplacer("  :1:40\n", "  /app/v8/shop.js:41:20\n", "  :1:26\n", "  /app/v8/shop.js:41:20\n",
			"  :3:12\n", "  /app/v8/shop.js:42:18\n").Replace(lines)
	}},
	"go": {line: func(f stacktext.Frame) string { return f.Module + "." + f.Function + " " + f.File + position(f.Line) },
		trim: func(lines string) string {
			lines, _, _ = strings.Cut(lines, "  runtime.gopanic"+lines[strings.LastIndex(lines, "  runtime.gopanic")+len("  runtime.gopanic"):])
			return regexp.MustCompile(`  runtime\..*\n`).ReplaceAllString(lines, "")
		}},
	"elixir": {line: func(f stacktext.Frame) string { return f.File + ":" + strings.TrimPrefix(position(f.Line), ":") },
		trim: func(lines string) string { return regexp.MustCompile(`(?m)^  .* `).ReplaceAllString(lines, "  ") }},
	"dotnet": {line: func(f stacktext.Frame) string { return f.Module + "." + f.Function }, trim: func(lines string) string {
		lines = strings.ReplaceAll(regexp.MustCompile(`\[[^\n]*\]`).ReplaceAllString(lines, ""), "+", ".")
		return strings.ReplaceAll(lines, ".<>c.<.cctor>b__274_0", "..cctor { <lambda> }")
	}},
}

func position(number uint32) string {
	if number == 0 {
		return ""
	}
	return fmt.Sprintf(":%d", number)
}

func TestFramesAreThoseOfTheLanguage(t *testing.T) {
	compared := map[string]int{}
	for _, c := range cases(t) {
		expected, err := os.ReadFile(c.file(".frames"))
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		compared[c.folder]++
		t.Run(c.folder+"/"+c.name, func(t *testing.T) {
			oracle := oracles[c.folder]
			want := string(expected)
			if oracle.trim != nil {
				want = oracle.trim(want)
			}
			trace, ok := stacktext.Parse(c.text, c.language)
			require.True(t, ok)
			if trace.Exceptions[0].Omitted > 0 {
				t.Skip("longer than the limit: see TestLongStacksKeepBothEnds")
			}
			assert.Equal(t, want, oracle.write(trace))
		})
	}
	assert.Len(t, compared, len(oracles))
}

func (o oracle) write(trace stacktext.Trace) string {
	var b strings.Builder
	for _, e := range trace.Exceptions {
		if o.types {
			fmt.Fprintln(&b, e.Type)
		} else if e.Parent >= 0 {
			break
		}
		for _, f := range e.Frames {
			fmt.Fprintln(&b, "  "+o.line(f))
		}
	}
	return b.String()
}
