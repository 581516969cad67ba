// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"io"
	"strings"
)

// Links are the comments that bundlers and sentry-cli write at the end of a JavaScript file.
type Links struct {
	DebugID string // debugId=
	Map     string // sourceMappingURL=: relative to the file, a URL, or a data: URL
}

// tailLines is the number of lines to search: a link is near the end, possibly before a license
// comment.
const tailLines = 10

// tail is the number of bytes at the end of a file in which links are searched. Inline source maps
// are longer, and are not supported.
const tail = 4096

// ReadLinksAt reads the links of a file of size bytes. It reads only the end of the file.
func ReadLinksAt(script io.ReaderAt, size int64) Links {
	text, _ := io.ReadAll(io.NewSectionReader(script, max(0, size-tail), tail))
	return ReadLinks(string(text))
}

// ReadLinks reads the links of a file: the last one of each kind counts.
func ReadLinks(script string) (links Links) {
	for range tailLines {
		i := strings.LastIndexByte(script, '\n')
		line := strings.TrimSpace(script[i+1:])
		if rest, is := comment(line); is {
			if id, is := strings.CutPrefix(rest, "debugId="); is && links.DebugID == "" {
				links.DebugID = strings.TrimSpace(id)
			}
			if url, is := strings.CutPrefix(rest, "sourceMappingURL="); is && links.Map == "" {
				links.Map = strings.TrimSpace(url)
			}
		}
		if i < 0 {
			break
		}
		script = script[:i]
	}
	return links
}

func comment(line string) (string, bool) {
	for _, prefix := range []string{"//# ", "//@ "} {
		if rest, is := strings.CutPrefix(line, prefix); is {
			return rest, true
		}
	}
	return "", false
}
