// SPDX-License-Identifier: Apache-2.0

package stacktext

import "strings"

// parsePHP reads an exception as text. Causes precede the exceptions that they caused. A line has
// the position of a call and the name of the called function, so the position of a frame is in one
// line and its function in the next:
//
//	LogicException: no stock in /app/shop.php:11
//	Stack trace:
//	#0 /app/shop.php(22): Shop\Cart::reserve()
//	#1 [internal function]: Shop\Cart->checkout()
//	#2 {main}
//
//	Next Shop\CheckoutException: order failed in /app/shop.php:24
func parsePHP(text string) *node {
	l := &lines{text: text}
	p := phpParser{headline: true}
	headline, last := 0, 0 // start of the headline, and of its last line
	for line, ok := l.line(); ok; line, ok = l.line() {
		switch {
		case p.headline && line == "Stack trace:":
			p.begin(text[headline:last], text[last:l.start])
		case p.main && strings.HasPrefix(line, "Next "):
			headline, p.headline = l.start+len("Next "), true
		case !p.headline && !p.main:
			p.entry(line)
		}
		last = max(l.start, headline)
	}
	return p.thrown
}

type phpParser struct {
	thrown   *node
	headline bool   // the current lines belong to a headline
	place    Frame  // of the next frame
	number   uint32 // of the next line
	main     bool   // the last frame has been read
}

// begin starts an exception: its headline ends with the place of the innermost frame.
func (p *phpParser) begin(headline, last string) {
	rest, place, found := cutLast(strings.TrimRight(last, "\r\n"), " in ")
	file, line, valid := cutNumber(place)
	if !found || !valid {
		return // a line of the message
	}
	headline += rest
	if _, uncaught, found := strings.Cut(headline, "Uncaught "); found {
		headline = uncaught
	}
	next := &node{}
	next.setHeadline(headline)
	if p.thrown != nil {
		next.addChild(p.thrown, Cause)
	}
	p.thrown, p.number, p.main, p.headline = next, 0, false, false
	p.place = Frame{}.withPHPFile(file, line)
}

// entry reads a line: "#0 /app/shop.php(22): Shop\Cart->checkout()".
func (p *phpParser) entry(line string) {
	number, content, found := strings.Cut(strings.TrimPrefix(line, "#"), " ")
	if n, ok := parseNumber(number); !found || !ok || n != p.number {
		return
	}
	p.number++
	f := p.place
	if content == "{main}" {
		f.Function = content
		p.thrown.stack.add(f)
		p.main = true
		return
	}
	var function string
	if function, found = strings.CutPrefix(content, "[internal function]: "); found {
		p.place = Frame{Runtime: true}
	} else {
		var place string
		if place, function, found = strings.Cut(content, "): "); !found {
			return
		}
		file, number, _ := cutLast(place, "(")
		line, _ := parseNumber(number)
		p.place = Frame{}.withPHPFile(file, line)
	}
	name, _, _ := strings.Cut(function, "(")
	f.Function = strings.Replace(name, "->", "::", 1)
	p.thrown.stack.add(f)
}

// withPHPFile sets the position. For evaluated code, it is the position of the eval:
// "/app/shop.php(44) : eval()'d code".
func (f Frame) withPHPFile(file string, line uint32) Frame {
	f.File, f.Line = file, line
	if place, _, found := strings.Cut(file, ") : "); found {
		if origin, number, found := cutLast(place, "("); found {
			if line, ok := parseNumber(number); ok {
				f.File, f.Line = origin, line
			}
		}
	}
	return f
}

// parsePHPLikeJava reads the output of OpenTelemetry's SDK for PHP, which has the form of Java's,
// with dots as namespace separators and file names without folders.
func parsePHPLikeJava(text string) *node {
	scripts := false
	thrown := (&javaParser{frame: func(content string) (Frame, bool) {
		name, place, ok := javaNameAndPlace(content)
		f := Frame{Function: name}.withJavaPlace(place)
		if module, function, found := cutLast(name, "."); found {
			f.Module, f.Function = strings.ReplaceAll(module, ".", `\`), function
		}
		scripts = scripts || strings.HasSuffix(f.File, ".php")
		return f, ok && f.Function != ""
	}}).parse(text)
	if !scripts {
		return nil
	}
	for exception := thrown; exception != nil; exception = exception.firstChild() {
		exception.Type = strings.ReplaceAll(exception.Type, ".", `\`)
	}
	return thrown
}

func (n *node) firstChild() *node {
	if len(n.children) == 0 {
		return nil
	}
	return n.children[0]
}
