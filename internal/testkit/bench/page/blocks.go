// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A block of the page is between two comments. The text around it is written by hand.
var block = regexp.MustCompile(`(?s)(<!-- make bench: (\w+) -->\n).*?(<!-- end -->)`)

// fill replaces the blocks of a page.
func fill(page string, texts map[string]string) (string, error) {
	filled := map[string]bool{}
	page = block.ReplaceAllStringFunc(page, func(old string) string {
		parts := block.FindStringSubmatch(old)
		if texts[parts[2]] == "" && slices.Contains(optionalBlocks, parts[2]) {
			return old
		}
		filled[parts[2]] = true
		return parts[1] + "\n" + texts[parts[2]] + "\n" + parts[3]
	})
	for name := range texts {
		if !filled[name] {
			return "", fmt.Errorf("the page has no block %q", name)
		}
	}
	for name := range filled {
		if texts[name] == "" {
			return "", fmt.Errorf("the page has a block %q, and there is no such benchmark", name)
		}
	}
	return page, nil
}

// check compares the rows of a page with those that would be written. Recordings, with names that
// begin with "rec-", may be absent.
func check(page, filled string) error {
	have, want := rows(page), rows(filled)
	for row := range want {
		if !have[row] {
			return fmt.Errorf("the page has no row for %s", row)
		}
	}
	for row := range have {
		if !want[row] && !strings.HasPrefix(row.data, "rec-") {
			return fmt.Errorf("the page has a row for %s, which no benchmark measures", row)
		}
	}
	return nil
}

// rows returns the cells with results in the tables of the benchmarks.
func rows(page string) map[key]bool {
	all := map[key]bool{}
	for _, parts := range block.FindAllStringSubmatch(page, -1) {
		var data []string
		for line := range strings.Lines(parts[0]) {
			cells := strings.Split(strings.Trim(line, "|\n"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			if cells[0] == "Ratio" {
				data = cells[1:]
				continue
			}
			for i, text := range cells[1:] {
				if i < len(data) && text != "" && !strings.HasPrefix(text, "---") {
					all[key{parts[2], cells[0], data[i]}] = true
				}
			}
		}
	}
	return all
}
