// SPDX-License-Identifier: Apache-2.0

package stacktext

import "strings"

// parseRuby reads the output of Exception#full_message. Ruby 3.4 uses other quotes and qualified
// names: 'Cart#checkout'.
//
//	shop.rb:16:in `checkout': order failed (CheckoutError)
//		from shop.rb:21:in `block in <main>'
//	shop.rb:8:in `reserve': no stock (KeyError)
//		from shop.rb:14:in `each'
//
// Ruby 2.5 to 2.7 reverse the order: the thrown exception and its innermost frame are at the end:
//
//	Traceback (most recent call last):
//		1: from shop.rb:14:in `each'
//	shop.rb:8:in `reserve': no stock (KeyError)
func parseRuby(text string) *node {
	p := rubyParser{lines: &lines{text: text}}
	for line, ok := p.line(); ok; line, ok = p.line() {
		p.read(line)
	}
	p.complete(len(text))
	return p.thrown
}

type rubyParser struct {
	*lines
	reversed bool
	outer    stack // in a reversed text: the frames before the headline
	thrown   *node
	last     *node // in the chain of causes

	current     *node
	head        Frame // of the headline
	message     int   // start of the message
	messageEnd  int   // 0 = not yet known
	interrupted bool
}

func (p *rubyParser) read(line string) {
	content := strings.TrimLeft(line, " \t")
	if p.thrown == nil && strings.HasPrefix(line, pythonHeader) {
		p.reversed = true
		return
	}
	if p.reversed {
		if _, rest, found := strings.Cut(content, ": from "); found && len(content) < len(line) {
			if f, rest, ok := rubyFrame(rest); ok && rest == "" {
				p.complete(p.start)
				p.outer.add(f)
				return
			}
		}
	} else if content, found := strings.CutPrefix(content, "from "); found && p.current != nil {
		if f, rest, ok := rubyFrame(content); ok && rest == "" {
			p.from(f)
			return
		}
	}
	if f, message, ok := rubyFrame(line); ok && strings.HasPrefix(message, ": ") && line == content {
		p.begin(f, p.start+len(line)-len(message)+2)
		return
	}
	p.interrupted = p.messageEnd > 0
}

// begin starts an exception at its headline.
func (p *rubyParser) begin(f Frame, message int) {
	p.complete(p.start)
	next := &node{}
	if p.reversed {
		next.stack, p.outer = p.outer, stack{}
		next.stack.reversed = true
		if p.thrown != nil {
			next.addChild(p.thrown, Cause)
		}
		p.thrown = next
	} else if p.thrown == nil {
		p.thrown, p.last = next, next
	} else {
		p.last.addChild(next, Cause)
		p.last = next
	}
	next.stack.add(f)
	p.current, p.head, p.message, p.messageEnd, p.interrupted = next, f, message, 0, false
}

// from adds a frame after the headline. If other lines follow earlier frames, those frames were
// part of the message.
func (p *rubyParser) from(f Frame) {
	if p.interrupted {
		p.current.stack.reset()
		p.current.stack.add(p.head)
		p.interrupted, p.messageEnd = false, 0
	}
	if p.messageEnd == 0 {
		p.messageEnd = p.start
	}
	p.current.stack.add(f)
}

// complete sets type and message of the current exception. The type is at the end of the first
// line.
func (p *rubyParser) complete(end int) {
	if p.current == nil {
		return
	}
	if p.messageEnd > 0 {
		end = p.messageEnd
	}
	text := strings.TrimRight(p.text[p.message:max(end, p.message)], "\r\n")
	first, rest, more := strings.Cut(text, "\n")
	if message, name, found := cutLast(strings.TrimSuffix(first, "\r"), " ("); found && strings.HasSuffix(name, ")") && !strings.Contains(name, " ") {
		first, p.current.Type = message, strings.TrimSuffix(name, ")")
	}
	p.current.Message = first
	if more {
		p.current.Message += "\n" + rest
	}
	p.current = nil
}

// rubyFrame reads "shop.rb:12:in `method'" at the start of a text.
func rubyFrame(text string) (f Frame, rest string, ok bool) {
	place, rest, found := strings.Cut(text, ":in ")
	if !found || rest == "" || rest[0] != '`' && rest[0] != '\'' {
		return f, "", false
	}
	if f.File, f.Line, ok = cutNumber(place); !ok || f.File == "" {
		return f, "", false
	}
	if f.Function, rest, found = strings.Cut(rest[1:], "'"); !found {
		return f, "", false
	}
	f.Runtime = strings.HasPrefix(f.File, "<internal:")
	if class, method, found := strings.Cut(f.Function, "#"); found && !strings.Contains(class, " ") {
		f.Module, f.Function = class, method
	}
	return f, rest, true
}
