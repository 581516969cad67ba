// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// texts returns the content of the blocks: the description of the run, the targets, and a table for
// each benchmark.
func texts(run, baseline *results) (map[string]string, error) {
	if err := run.complete(); err != nil {
		return nil, err
	}
	now, old := run.all(), map[key]result{}
	for _, r := range baseline.all() {
		old[r.key()] = r
	}
	all := map[string]string{
		"run": fmt.Sprintf("- This page: %s. The highest value of a figure is typically %s times the lowest.\n"+
			"- [Baseline](../internal/testkit/bench/baseline.txt): %s.\n", run, number(spread(now)), baseline),
		"targets": targets(now),
	}
	for _, f := range figures {
		if all[f.benchmark] == "" && len(run.data[f.benchmark]) > 0 {
			all[f.benchmark] = table(f.benchmark, run.data[f.benchmark], now, old)
		}
	}
	return all, nil
}

// spread returns the median of highest ÷ lowest value.
func spread(all []result) float64 {
	var spreads []float64
	for _, r := range all {
		if low, high := r.Values[0], r.Values[len(r.Values)-1]; low > 0 {
			spreads = append(spreads, high/low)
		}
	}
	slices.Sort(spreads)
	if len(spreads) == 0 {
		return 1
	}
	return spreads[len(spreads)/2]
}

// table has a row for each ratio of a benchmark and a column for each payload.
func table(benchmark string, data []string, now []result, old map[key]result) string {
	text := "| Ratio | " + strings.Join(data, " | ") + " |\n|---" + strings.Repeat("|---", len(data)) + "|\n"
	for _, f := range figures {
		if f.benchmark != benchmark {
			continue
		}
		text += "| " + f.unit + " |"
		for _, column := range data {
			i := slices.IndexFunc(now, func(r result) bool { return r.figure == f && r.data == column })
			if i < 0 {
				text += " |"
				continue
			}
			text += " " + cell(now[i], old[now[i].key()]) + " |"
		}
		text += "\n"
	}
	return text
}

// cell returns the median, bold if it misses the target, and the change since the baseline, if it
// is significant.
func cell(r, old result) string {
	text := number(r.median())
	if !r.asked.reached(r.median()) {
		text = "**" + text + "**"
	}
	if old.Sample != nil && benchmath.AssumeNothing.Compare(old.Sample, r.Sample).FormatDelta(old.median(), r.median()) != "~" {
		text += fmt.Sprintf(" (%+.0f%%)", 100*(r.median()/old.median()-1))
	}
	return text
}

// targets returns a table of all figures with a target: the medians of the payloads, and the
// payloads that miss it.
func targets(all []result) string {
	asked, reached := 0, 0
	var rows string
	for _, f := range figures {
		if f.asked == nothing {
			continue
		}
		low, high, missed := math.Inf(1), math.Inf(-1), []string{}
		for _, r := range all {
			if r.figure != f {
				continue
			}
			asked++
			low, high = min(low, r.median()), max(high, r.median())
			if r.asked.reached(r.median()) {
				reached++
			} else {
				missed = append(missed, r.data+" "+number(r.median()))
			}
		}
		if low > high {
			continue // not measured
		}
		rows += fmt.Sprintf("| [%s](#%s) | %s | %s | %s | %s |\n", f.benchmark, strings.ToLower(f.benchmark), f.unit, f.asked,
			span(low, high), strings.Join(missed, ", "))
	}
	return fmt.Sprintf("%d of %d targets are met.\n\n| Benchmark | Ratio | Target | Lowest to highest median | Missed by |\n|---|---|---|---|---|\n%s",
		reached, asked, rows)
}

func number(v float64) string { return fmt.Sprintf("%.3g", v) }

// span returns a range of values, or one value if they are equal.
func span(low, high float64) string {
	if number(low) == number(high) {
		return number(low)
	}
	return number(low) + " to " + number(high)
}
