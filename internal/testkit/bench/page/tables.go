// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// texts returns the content of the blocks: the description of the run, and a row for each figure.
func texts(page string, run, baseline *results) (map[string]string, error) {
	if err := run.complete(); err != nil {
		return nil, err
	}
	now := run.all()
	return map[string]string{
		"run": fmt.Sprintf("- This page: %s. The highest value of a figure is typically %s times the lowest.\n"+
			"- [Baseline](../internal/testkit/bench/baseline.txt): %s.\n", run, number(spread(now)), baseline),
		"results": table(now, rows(page)),
	}, nil
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

// table has a row for each figure, with the lowest and the highest median of the payloads. Figures
// that were not measured keep their row.
func table(now []result, old map[key]string) string {
	text := "| Part | Ratio | Compared | Result |\n|---|---|---|---|\n"
	for _, f := range figures {
		low, high, measured := f.extremes(now)
		switch kept := old[key{f.benchmark, f.unit, ""}]; {
		case f.says == "":
		case measured:
			text += fmt.Sprintf("| %s | `%s` | %s | %s |\n", f.benchmark, f.unit, f.says, span(low, high))
		case kept != "":
			text += kept + "\n"
		}
	}
	return text
}

// extremes returns the lowest and the highest median of the payloads.
func (f figure) extremes(all []result) (low, high float64, measured bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, r := range all {
		if r.figure == f {
			low, high = min(low, r.median()), max(high, r.median())
		}
	}
	return low, high, low <= high
}

// targets returns a line for each figure that misses its target.
func targets(all []result) string {
	asked, reached := 0, 0
	var missed string
	for _, f := range figures {
		if f.asked == nothing {
			continue
		}
		var names []string
		for _, r := range all {
			if r.figure != f {
				continue
			}
			asked++
			if r.asked.reached(r.median()) {
				reached++
			} else {
				names = append(names, r.data+" "+number(r.median()))
			}
		}
		if names != nil {
			missed += fmt.Sprintf("%s %s is not %s: %s\n", f.benchmark, f.unit, f.asked, strings.Join(names, ", "))
		}
	}
	return fmt.Sprintf("%s%d of %d targets are met.\n", missed, reached, asked)
}

func number(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v) // without an exponent
	}
	return fmt.Sprintf("%.3g", v)
}

// span returns a range of values, or one value if they are equal.
func span(low, high float64) string {
	if number(low) == number(high) {
		return number(low)
	}
	return number(low) + " to " + number(high)
}
