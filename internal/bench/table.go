package main

import "fmt"

// target is what a ratio should reach: at least reach (and then later on), or at most.
type target struct {
	reach, then float64
	atMost      bool
}

// noTarget is for what is printed beside the figures.
var noTarget target

func atLeast(reach, then float64) target { return target{reach, then, false} }
func atMost(reach, then float64) target  { return target{reach, then, true} }

// verdict says how far a ratio got.
func (t target) verdict(ratio float64) string {
	switch {
	case t == noTarget:
		return "-"
	case t.then != 0 && t.met(ratio, t.then):
		return "then"
	case t.met(ratio, t.reach):
		return "reached"
	}
	return "MISSED"
}

func (t target) met(ratio, bound float64) bool {
	if t.atMost {
		return ratio <= bound
	}
	return ratio >= bound
}

func (t target) String() string {
	if t == noTarget {
		return ""
	}
	sign := "≥"
	if t.atMost {
		sign = "≤"
	}
	text := fmt.Sprintf("%s %.3g", sign, t.reach)
	if t.then != 0 {
		text += fmt.Sprintf(" / %s %.3g", sign, t.then)
	}
	return text
}

const rowFormat = "%-44s %-18s %-16s %8s  %-8s %s\n"

func printHeader() {
	fmt.Printf(rowFormat, "figure", "payload", "reach / then", "measured", "verdict", "")
}

func printRow(figure, payload string, t target, ratio float64, note string) {
	fmt.Printf(rowFormat, figure, payload, t, fmt.Sprintf("%.2f", ratio), t.verdict(ratio), note)
}

func printSkipped(figure, why string) {
	fmt.Printf(rowFormat, figure, "", "", "-", "skipped", why)
}
