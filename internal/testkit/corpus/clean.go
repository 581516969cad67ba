// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bytes"
	"regexp"
)

var (
	sourceLine  = regexp.MustCompile(`"context_line"\s*:\s*"((?:[^"\\]|\\.)*)"`)
	sourceLines = regexp.MustCompile(`"(?:pre_context|post_context)"\s*:\s*\[((?:\s*"(?:[^"\\]|\\.)*"\s*,?)*)\]`)
	text        = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	home        = regexp.MustCompile(`/root/`)
)

// Clean overwrites lines of source code and the home folder of the recording machine. Lengths
// remain, so that headers of items remain correct.
func Clean(body []byte) []byte {
	clean := bytes.Clone(body)
	for _, match := range sourceLine.FindAllSubmatchIndex(body, -1) {
		fill(clean[match[2]:match[3]])
	}
	for _, match := range sourceLines.FindAllSubmatchIndex(body, -1) {
		list := clean[match[2]:match[3]]
		for _, line := range text.FindAllSubmatchIndex(list, -1) {
			fill(list[line[2]:line[3]])
		}
	}
	return home.ReplaceAllLiteral(clean, []byte("/home/"))
}

func fill(text []byte) {
	for i := range text {
		text[i] = '*'
	}
}
