// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A block of the page is between two comments. The text around it is written by hand.
var block = regexp.MustCompile(`(?s)(<!-- make bench: (\w+) -->\n).*?(<!-- end -->)`)

// fill replaces the blocks of a page.
func fill(page string, texts map[string]string) (string, error) {
	filled := map[string]bool{}
	page = block.ReplaceAllStringFunc(page, func(old string) string {
		parts := block.FindStringSubmatch(old)
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
			return "", fmt.Errorf("the page has a block %q, which is not written", name)
		}
	}
	return page, nil
}

// check compares the rows of a page with those that would be written.
func check(page, filled string) error {
	have, want := rows(page), rows(filled)
	for row := range want {
		if have[row] == "" {
			return fmt.Errorf("the page has no row for %s", row)
		}
	}
	for row := range have {
		if want[row] == "" {
			return fmt.Errorf("the page has a row for %s, which no benchmark measures", row)
		}
	}
	return nil
}

var resultRow = regexp.MustCompile("(?m)^\\| (\\w+) \\| `([^`]+)` \\|.*\n")

// rows returns the rows with results.
func rows(page string) map[key]string {
	all := map[key]string{}
	for _, parts := range resultRow.FindAllStringSubmatch(page, -1) {
		all[key{parts[1], parts[2], ""}] = strings.TrimSuffix(parts[0], "\n")
	}
	return all
}
