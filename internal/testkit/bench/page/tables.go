// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"golang.org/x/perf/benchmath"
)

// texts returns the content of the blocks: the description of the run, the missed targets, and a table for each benchmark.
func texts(run, baseline *results) (map[string]string, error) {
	if err := run.complete(); err != nil {
		return nil, err
	}
	now, old := run.all(), map[key]result{}
	for _, r := range baseline.all() {
		old[r.key()] = r
	}
	all := map[string]string{
		"run":    fmt.Sprintf("- This page: %s.\n- [Baseline](../internal/testkit/bench/baseline.txt): %s.\n", run, baseline),
		"missed": missed(now),
	}
	for _, r := range now {
		if all[r.benchmark] == "" {
			all[r.benchmark] = tableHead
		}
		all[r.benchmark] += row(r, old[r.key()])
	}
	return all, nil
}

const tableHead = `| Data | Ratio | Target | Met | Median | Lowest … highest | Baseline | Change |
|---|---|---|---|---|---|---|---|
`

func row(r, old result) string {
	before, since := "", ""
	if old.Sample != nil {
		before = number(old.median())
		since = benchmath.AssumeNothing.Compare(old.Sample, r.Sample).FormatDelta(old.median(), r.median())
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s … %s | %s | %s |\n", r.data, r.unit, r.asked, r.asked.verdict(r.median()),
		number(r.median()), number(r.Values[0]), number(r.Values[len(r.Values)-1]), before, since)
}

// missed returns a line for each figure that misses its target, with the payloads that miss it.
func missed(all []result) string {
	asked, reached := 0, 0
	var lines []string
	var last figure
	for _, r := range all {
		if r.asked == nothing {
			continue
		}
		asked++
		if r.asked.met(r.median(), r.asked.reach) {
			reached++
			continue
		}
		if r.figure != last {
			lines = append(lines, fmt.Sprintf("- %s, %s %s:", r.benchmark, r.unit, r.asked))
			last = r.figure
		}
		lines[len(lines)-1] += fmt.Sprintf(" %s %s", r.data, number(r.median()))
	}
	return fmt.Sprintf("%d of %d targets are met. Missed:\n\n%s\n", reached, asked, strings.Join(lines, "\n"))
}

func number(v float64) string { return fmt.Sprintf("%.3g", v) }
