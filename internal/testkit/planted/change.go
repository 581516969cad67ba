// SPDX-License-Identifier: Apache-2.0

package planted

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Changes returns what differs between the lines of two dumps, sorted and without repetitions: the
// key of a line and the parts that differ; numbers are 0. The dumps must have the same lines but
// for their values.
func Changes(before, after []string) []string {
	found := map[string]bool{}
	for i, message := range before {
		lines := strings.Split(after[i], "\n")
		for n, line := range strings.Split(message, "\n") {
			if n < len(lines) && line != lines[n] {
				found[change(line, lines[n])] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// change returns the key of a line, and the parts that differ.
func change(before, after string) string {
	key, _, _ := strings.Cut(strings.TrimSpace(before), " = ")
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	return digits.ReplaceAllString(fmt.Sprintf("%s: %s → %s", key, before, after), "0")
}

var digits = regexp.MustCompile(`[0-9]+`)
