// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
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

// emptyPage returns a page with a block for each benchmark, and other text.
func emptyPage() string {
	page := "# Title\n"
	for _, name := range []string{"run", "targets"} {
		page += fmt.Sprintf("\nProse of %[1]s.\n\n<!-- make bench: %[1]s -->\n<!-- end -->\n", name)
	}
	last := ""
	for _, f := range figures {
		if f.benchmark != last {
			last = f.benchmark
			page += fmt.Sprintf("\nProse of %[1]s.\n\n<!-- make bench: %[1]s -->\n<!-- end -->\n", last)
		}
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
	page, err := updated(t, emptyPage(), strings.Repeat(output("py", 2), 6), strings.Repeat(output("py", 9)+output("py", 11), 3), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nProse of Gzip.\n",
		"\n| Ratio | py |\n|---|---|\n| two-pass÷own | **10** (+400%) |\n| encoding/json÷own | 10 (+400%) |\n",
		"\n| [Receive](#receive) | two-pass÷own | ≥ 12, then 16 | 10 | py 10 |\n| [Receive](#receive) | encoding/json÷own | ≥ 7, then 9 | 10 |  |\n",
		"typically 1.22 times the lowest",
		"one-minute load average from 9 to 11",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if again, err := updated(t, page, output("py", 2), output("py", 7), false); err != nil || strings.Count(again, "\n") != strings.Count(page, "\n") {
		t.Error("a second run leaves something of the first one:", err, again)
	}
}

func TestCheck(t *testing.T) {
	page, err := updated(t, emptyPage(), "", output("py", 1)+output("rec-py", 1), false)
	if err != nil {
		t.Fatal(err)
	}
	first := fmt.Sprintf("Benchmark%s/py-2 1 1 %s\n", figures[0].benchmark, figures[0].unit)
	for name, c := range map[string]struct{ page, run, problem string }{
		"other values, no recordings": {page, output("py", 2), ""},
		"other data":                  {page, output("py", 1) + output("node", 1), "no row"},
		"data no longer measured":     {page, output("node", 1), "no row"},
		"a figure not measured":       {page, strings.Replace(output("py", 1), first, "", 1), "was not measured"},
		"a figure not listed":         {page, output("py", 1) + "BenchmarkNew/py-2 1 1 a÷b\n", "not in the list"},
		"a block too many":            {page + "<!-- make bench: Old -->\n<!-- end -->\n", output("py", 1), "no such benchmark"},
		"no block":                    {strings.Replace(page, "make bench: Gzip", "", 1), output("py", 1), "no block"},
		"a row too many":              {strings.Replace(page, "\n| two-pass÷own |", "\n| old÷own | 1 |\n| two-pass÷own |", 1), output("py", 1), "no benchmark measures"},
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
