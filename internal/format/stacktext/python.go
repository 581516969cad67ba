// SPDX-License-Identifier: Apache-2.0

package stacktext

import "strings"

const (
	pythonHeader    = "Traceback (most recent call last):"
	pythonGroup     = "Exception Group Traceback (most recent call last):"
	pythonCause     = "The above exception was the direct cause of the following exception:"
	pythonContext   = "During handling of the above exception, another exception occurred:"
	pythonBaseLevel = 0
)

// parsePython reads the output of traceback.format_exception. In a chain, a cause precedes the
// exception that it caused. Members of a group follow the group, with a margin of two characters
// for each level:
//
//   - Exception Group Traceback (most recent call last):
//     |   File "shop.py", line 49, in group
//     | ExceptionGroup: two orders (2 sub-exceptions)
//     +-+---------------- 1 ----------------
//     | KeyError: 'A'
//     +---------------- 2 ----------------
//     | TypeError: of a member
//     +------------------------------------
func parsePython(text string) *node {
	p := pythonParser{}
	p.open(pythonOutside)
	l := lines{text: text}
	for line, ok := l.line(); ok; line, ok = l.line() {
		p.read(line)
	}
	for len(p.levels) > 1 {
		p.close()
	}
	return p.levels[0].thrown()
}

type pythonParser struct {
	levels  []*pythonLevel // open levels: the trace itself, a member of its group, a member of that member's group, and so on
	groups  bool           // lines have margins
	repeats int
}

// pythonLevel is a chain of exceptions: a trace or a member of a group.
type pythonLevel struct {
	last     *node // of the chain
	state    pythonState
	relation Relation // of last to the next exception
	message  []string
	repeats  *int // number in the whole text
	source   bool // the next line is the code of the last frame
}

type pythonState int8

const (
	pythonOutside pythonState = iota // before the first block
	pythonFrames
	pythonMessage
	pythonBetween // after a separator of the chain, or at the start of a member, which may have no header
)

func (p *pythonParser) read(line string) {
	if p.groups && p.readMargin(line) {
		return
	}
	if strings.TrimLeft(line, " ") == "+ "+pythonGroup {
		p.groups = true
		p.levels[pythonBaseLevel].read(pythonHeader)
		return
	}
	p.levels[pythonBaseLevel].read(line)
}

// readMargin reads a line with a margin. It reports false for other lines, which end a group.
func (p *pythonParser) readMargin(line string) bool {
	content := strings.TrimLeft(line, " ")
	level := (len(line)-len(content))/2 - 1
	switch {
	case strings.HasPrefix(content, "+-+-"): // the first member of the group at this level
		p.closeTo(level)
		p.open(pythonBetween)
	case strings.HasPrefix(content, "+--"): // the next member or the end of the group
		p.closeTo(level - 1)
		if strings.Trim(content, "+-") != "" {
			p.open(pythonBetween)
		}
	case strings.HasPrefix(content, "+ "), strings.HasPrefix(content, "|"):
		p.closeTo(level)
		p.levels[len(p.levels)-1].read(strings.TrimPrefix(content[1:], " "))
	default:
		p.closeTo(pythonBaseLevel)
		p.groups = false
		return false
	}
	return true
}

func (p *pythonParser) open(state pythonState) {
	p.levels = append(p.levels, &pythonLevel{state: state, repeats: &p.repeats})
}

func (p *pythonParser) closeTo(level int) {
	for len(p.levels)-1 > max(level, pythonBaseLevel) {
		p.close()
	}
}

// close adds the innermost open level to its group.
func (p *pythonParser) close() {
	level := p.levels[len(p.levels)-1]
	p.levels = p.levels[:len(p.levels)-1]
	group := p.levels[len(p.levels)-1]
	if member := level.thrown(); member != nil && group.last != nil {
		group.complete()
		group.last.addChild(member, Member)
	}
}

func (l *pythonLevel) read(line string) {
	switch {
	case line == pythonHeader, line == pythonGroup:
		if l.state != pythonFrames {
			l.begin()
		}
	case line == pythonCause:
		l.separate(Cause)
	case line == pythonContext:
		l.separate(Context)
	case l.state == pythonBetween && line != "":
		l.begin()
		l.headline(line)
	case l.state == pythonFrames:
		l.frame(line)
	case l.state == pythonMessage:
		l.message = append(l.message, line)
	}
}

// begin starts an exception. The previous one of the chain is its cause or context.
func (l *pythonLevel) begin() {
	if l.state == pythonMessage && l.last != nil { // the text contains a second trace
		l.separate(Context)
	}
	next := &node{}
	next.stack.reversed = true
	if l.last != nil {
		next.addChild(l.last, l.relation)
	}
	l.last, l.state = next, pythonFrames
}

func (l *pythonLevel) separate(relation Relation) {
	if l.last == nil {
		return
	}
	l.complete()
	l.relation, l.state = relation, pythonBetween
}

func (l *pythonLevel) headline(line string) {
	l.state = pythonMessage
	l.message = append(l.message[:0], line)
}

// complete sets the headline of the last exception of the chain.
func (l *pythonLevel) complete() {
	if len(l.message) > 0 {
		l.last.setHeadline(strings.Join(l.message, "\n"))
	}
	l.message = nil
}

func (l *pythonLevel) thrown() *node {
	if l.last != nil {
		l.complete()
	}
	return l.last
}

// frame reads a line of a frame:
//
//	File "shop.py", line 13, in reserve
//	  return stock[sku]
//	         ~~~~~^^^^^
//	[Previous line repeated 38 more times]
func (l *pythonLevel) frame(line string) {
	content, indented := strings.CutPrefix(line, "  ")
	switch {
	case !indented && line != "":
		l.headline(line)
	case strings.HasPrefix(content, `File "`):
		if f, ok := pythonFrame(content); ok {
			l.last.stack.add(f)
			l.source = true
			return
		}
	case strings.HasPrefix(content, "[Previous line repeated "):
		number, _, _ := strings.Cut(strings.TrimPrefix(content, "[Previous line repeated "), " ")
		if n, ok := parseNumber(number); ok && *l.repeats < maxRepeats {
			*l.repeats++
			l.last.stack.repeat(int(n))
		}
	case l.source && strings.HasPrefix(content, "  "):
		l.last.stack.last().Source = strings.TrimSpace(content)
	}
	l.source = false
}

// pythonFrame reads `File "shop.py", line 13, in reserve`. The position of a syntax error has no
// function and is not a frame.
func pythonFrame(content string) (f Frame, ok bool) {
	content = strings.TrimPrefix(content, `File "`)
	file, rest, found := strings.Cut(content, `", line `)
	if !found {
		return f, false
	}
	number, function, found := strings.Cut(rest, ", in ")
	line, valid := parseNumber(number)
	return Frame{File: file, Line: line, Function: function}, found && valid && function != ""
}
