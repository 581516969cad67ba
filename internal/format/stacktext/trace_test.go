// SPDX-License-Identifier: Apache-2.0

package stacktext_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// languages maps the folders of testdata to languages. Each folder has the program that wrote the
// traces; CASES.md lists those written by hand.
var languages = map[string]stacktext.Language{
	"python": stacktext.Python, "java": stacktext.Java, "v8": stacktext.JavaScript, "firefox": stacktext.JavaScript,
	"safari": stacktext.JavaScript, "dotnet": stacktext.DotNet, "go": stacktext.Go, "ruby": stacktext.Ruby, "php": stacktext.PHP,
	"rust": stacktext.Native, "cpp": stacktext.Native, "elixir": stacktext.Elixir,
}

var names = map[stacktext.Language]string{
	stacktext.Unknown: "unknown", stacktext.Python: "python", stacktext.Java: "java", stacktext.JavaScript: "javascript",
	stacktext.DotNet: "dotnet", stacktext.Go: "go", stacktext.Ruby: "ruby", stacktext.PHP: "php", stacktext.Native: "native",
	stacktext.Elixir: "elixir",
}

type testCase struct {
	folder, name, text string
	language           stacktext.Language
}

func cases(t testing.TB) (list []testCase) {
	for folder, language := range languages {
		paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.txt"))
		require.NoError(t, err)
		require.NotEmpty(t, paths, folder)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			list = append(list, testCase{folder, strings.TrimSuffix(filepath.Base(path), ".txt"), string(text), language})
		}
	}
	return list
}

// file returns the path of a file of the case.
func (c testCase) file(extension string) string {
	return filepath.Join("testdata", c.folder, c.name+extension)
}

// TestGoldens compares the trace of every text with a golden file. Without a stated language, the
// text results in the same trace.
func TestGoldens(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.folder+"/"+c.name, func(t *testing.T) {
			trace, ok := stacktext.Parse(c.text, c.language)
			require.True(t, ok)
			got := dump(trace)
			if *update {
				require.NoError(t, os.WriteFile(c.file(".golden"), []byte(got), 0o644))
			}
			want, err := os.ReadFile(c.file(".golden"))
			require.NoError(t, err)
			assert.Equal(t, string(want), got, "after an intended change, run go test -update and review the diff")

			detected, ok := stacktext.Parse(c.text, stacktext.Unknown)
			require.True(t, ok)
			assert.Equal(t, trace, detected, "detected as %s", names[detected.Language])

			windows, ok := stacktext.Parse(strings.ReplaceAll(c.text, "\n", "\r\n"), c.language)
			require.True(t, ok)
			assert.Equal(t, got, strings.ReplaceAll(dump(windows), `\r`, ""), "with the line ends of Windows")
		})
	}
}

// dump returns a trace as text: each exception with its relation, then its frames in order.
func dump(trace stacktext.Trace) string {
	var b strings.Builder
	fmt.Fprintln(&b, names[trace.Language])
	for i, e := range trace.Exceptions {
		relation := [...]string{"thrown", "cause of %d", "context of %d", "suppressed by %d", "member of %d"}[e.Relation]
		if e.Parent >= 0 {
			relation = fmt.Sprintf(relation, e.Parent)
		}
		fmt.Fprintf(&b, "\n%d %s: %s %q\n", i, relation, e.Type, e.Message)
		for i := 0; i < len(e.Frames); {
			next := i + 1
			for next < len(e.Frames) && e.Frames[next] == e.Frames[i] {
				next++
			}
			fmt.Fprintf(&b, "  %s", dumpFrame(e.Frames[i]))
			if n := next - i; n > 1 {
				fmt.Fprintf(&b, "  × %d", n)
			}
			fmt.Fprintln(&b)
			i = next
		}
		if e.Omitted > 0 {
			fmt.Fprintf(&b, "  and %d frames from the middle\n", e.Omitted)
		}
	}
	if trace.Omitted > 0 {
		fmt.Fprintf(&b, "\nand %d exceptions\n", trace.Omitted)
	}
	return b.String()
}

func dumpFrame(f stacktext.Frame) string {
	parts := []string{f.Function}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+value)
		}
	}
	add("module=", f.Module)
	add("", f.File)
	if f.Line > 0 {
		parts[len(parts)-1] += fmt.Sprintf(":%d", f.Line)
	}
	if f.Column > 0 {
		parts[len(parts)-1] += fmt.Sprintf(":%d", f.Column)
	}
	add("package=", f.Package)
	if f.Address > 0 {
		add("", fmt.Sprintf("%#x", f.Address))
	}
	if f.Runtime {
		add("", "(runtime)")
	}
	add("| ", f.Source)
	return strings.Join(parts, "  ")
}
