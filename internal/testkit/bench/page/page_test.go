// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// output returns the output of a run in which each figure and the load average have this value.
func output(data string, value float64) string {
	var text strings.Builder
	fmt.Fprintf(&text, "date: 2026-11-21\nload: %g\n", value)
	for _, f := range figures {
		fmt.Fprintf(&text, "Benchmark%s/%s-2 1 %g %s\n", f.benchmark, data, value, f.unit)
	}
	return text.String()
}

// emptyPage returns a page with its blocks, and other text.
func emptyPage() string {
	page := "# Title\n"
	for _, name := range []string{"run", "results"} {
		page += fmt.Sprintf("\nProse of %[1]s.\n\n<!-- make bench: %[1]s -->\n<!-- end -->\n", name)
	}
	return page
}

// updated returns the page after a run, or the error.
func updated(t *testing.T, page, baseline, run string, checking bool) (string, error) {
	dir := t.TempDir()
	var files []string
	for i, text := range []string{page, baseline, run} {
		files = append(files, filepath.Join(dir, fmt.Sprint(i)))
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	failed := update(files[0], files[1], files[2], checking)
	after, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(after), failed
}

func TestUpdate(t *testing.T) {
	run := strings.Repeat(output("py", 9)+output("py", 11), 3) + output("node", 20)
	page, err := updated(t, emptyPage(), strings.Repeat(output("py", 2), 6), run, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nProse of results.\n",
		"| Ratio | Compared | Result |\n|---|---|---|---|\n| Receive | `two-pass÷own` | ",
		"| `encoding/json÷own` | the same in one pass | 10 to 20 |\n",
		"one-minute load average from 9 to 20",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if strings.Contains(page, "floor÷own") {
		t.Error("a figure that only explains others is on the page")
	}
	if again, err := updated(t, page, output("py", 2), output("py", 7), false); err != nil || strings.Count(again, "\n") != strings.Count(page, "\n") {
		t.Error("a second run leaves something of the first one:", err, again)
	}
}

// TestUpdateKeepsOptional: a machine without cargo leaves the rows that need it as they are.
func TestUpdateKeepsOptional(t *testing.T) {
	page, err := updated(t, emptyPage(), "", output("py", 3), false)
	if err != nil {
		t.Fatal(err)
	}
	without := strings.ReplaceAll(output("py", 5), "BenchmarkAndroid/py-2 1 5 android_trace_log÷parse\n", "")
	if page, err = updated(t, page, "", without, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| Receive | `two-pass÷own` |", "| Android | `android_trace_log÷parse` |"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if !regexp.MustCompile(`(?m)android_trace_log÷parse.* 3 \|$`).MatchString(page) || !regexp.MustCompile(`(?m)two-pass÷own.* 5 \|$`).MatchString(page) {
		t.Error(page)
	}
}

func TestTargets(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	if err := os.WriteFile(run, []byte(output("py", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	results, err := readResults(run)
	if err != nil {
		t.Fatal(err)
	}
	text := targets(results.all())
	if !strings.Contains(text, "Receive two-pass÷own is not ≥ 12, then 16: py 10\n") || strings.Contains(text, "encoding/json÷own is not") {
		t.Error(text)
	}
}

func TestCheck(t *testing.T) {
	page, err := updated(t, emptyPage(), "", output("py", 1)+output("rec-py", 1), false)
	if err != nil {
		t.Fatal(err)
	}
	first := fmt.Sprintf("Benchmark%s/py-2 1 1 %s\n", figures[0].benchmark, figures[0].unit)
	line := resultRow.FindString(page)
	for name, c := range map[string]struct{ page, run, problem string }{
		"other values, no recordings": {page, output("py", 2), ""},
		"a figure not measured":       {page, strings.Replace(output("py", 1), first, "", 1), "was not measured"},
		"a figure not listed":         {page, output("py", 1) + "BenchmarkNew/py-2 1 1 a÷b\n", "not in the list"},
		"a block too many":            {page + "<!-- make bench: Old -->\n<!-- end -->\n", output("py", 1), "not written"},
		"no block":                    {strings.Replace(page, "make bench: run", "", 1), output("py", 1), "no block"},
		"a row too few":               {strings.Replace(page, line, "", 1), output("py", 1), "no row"},
		"a row too many":              {strings.Replace(page, line, "| Receive | `old÷own` | text | 1 |\n"+line, 1), output("py", 1), "no benchmark measures"},
	} {
		after, err := updated(t, c.page, "", c.run, true)
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %q", name, err, c.problem)
		}
		if after != c.page {
			t.Errorf("%s: the page was written", name)
		}
	}
}
