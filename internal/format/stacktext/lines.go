// SPDX-License-Identifier: Apache-2.0

package stacktext

import (
	"strconv"
	"strings"
)

// lines iterates over the lines of a text.
type lines struct {
	text  string
	start int // of the current line
	next  int
}

// line returns the next line without its end.
func (l *lines) line() (string, bool) {
	if l.next >= len(l.text) {
		return "", false
	}
	l.start = l.next
	line, _, found := strings.Cut(l.text[l.start:], "\n")
	l.next = l.start + len(line)
	if found {
		l.next++
	}
	return strings.TrimSuffix(line, "\r"), true
}

// section is the headline of an exception and its frames. If there are two runs of frames, the
// first run and the lines up to the second belong to the message.
type section struct {
	*node
	lines       *lines
	headline    int  // start of the headline
	headlineEnd int  // start of the last run of frames; -1 = no frames yet
	named       bool // type and message are set
	interrupted bool // other lines follow the frames
}

func newSection(l *lines, headline int) *section {
	return &section{node: &node{}, lines: l, headline: headline, headlineEnd: -1}
}

// frame adds a frame of the current line.
func (s *section) frame(f Frame) {
	if s.stack.total == 0 || s.interrupted {
		s.stack.reset()
		s.interrupted = false
		s.headlineEnd = s.lines.start
	}
	s.stack.add(f)
}

// other records a line that is not a frame.
func (s *section) other() { s.interrupted = true }

// name sets type and message, once. The headline of an exception without frames ends at position.
func (s *section) name(position int) {
	if s.named {
		return
	}
	s.named = true
	if s.headlineEnd >= 0 {
		position = s.headlineEnd
	}
	s.setHeadline(s.lines.text[min(s.headline, position):position])
}

// cutPosition removes ":line" or ":line:column" from the end of a position.
func cutPosition(place string) (file string, line, column uint32) {
	file, last, ok := cutNumber(place)
	if !ok {
		return place, 0, 0
	}
	if rest, first, ok := cutNumber(file); ok {
		return rest, first, last
	}
	return file, last, 0
}

// cutNumber removes ":number" from the end of a text.
func cutNumber(text string) (rest string, number uint32, ok bool) {
	colon := strings.LastIndexByte(text, ':')
	if colon < 0 {
		return text, 0, false
	}
	number, ok = parseNumber(text[colon+1:])
	if !ok {
		return text, 0, false
	}
	return text[:colon], number, true
}

func parseNumber(text string) (uint32, bool) {
	if text == "" || len(text) > 10 || text[0] < '0' || text[0] > '9' { // strconv would allocate an error
		return 0, false
	}
	number, err := strconv.ParseUint(text, 10, 32)
	return uint32(number), err == nil
}

// parseAddress reads 0x1234.
func parseAddress(text string) (uint64, bool) {
	digits, found := strings.CutPrefix(text, "0x")
	if !found {
		digits, found = strings.CutPrefix(text, "0X")
	}
	if !found || digits == "" || len(digits) > 16 {
		return 0, false
	}
	address, err := strconv.ParseUint(digits, 16, 64)
	return address, err == nil
}

// cutLast is strings.Cut at the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
