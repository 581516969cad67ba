// SPDX-License-Identifier: Apache-2.0

package stacktext

import "strings"

// parseJava reads the output of Throwable.printStackTrace:
//
//	com.example.CheckoutException: order failed
//		at com.example.Cart.checkout(Cart.java:26)
//		Suppressed: java.io.IOException: close failed
//			at com.example.Shop.lambda$suppressed$0(Shop.java:36)
//			... 5 more
//	Caused by: java.lang.IllegalStateException: no stock
//		at com.example.Cart.reserve(Cart.java:19)
//		... 6 more
func parseJava(text string) *node { return (&javaParser{frame: javaFrame}).parse(text) }

type javaParser struct {
	frame func(content string) (Frame, bool)
	open  []*section // the last exception at each indentation
	nodes int
	share int // frames that "... n more" may still represent
}

func (p *javaParser) parse(text string) *node {
	l := &lines{text: text}
	p.open, p.nodes, p.share = []*section{newSection(l, 0)}, 1, len(text)/bytesPerShared
	current, thrown := p.open[0], p.open[0]
	for line, ok := l.line(); ok; line, ok = l.line() {
		content := strings.TrimLeft(line, " \t")
		indent := strings.Count(line[:len(line)-len(content)], "\t")
		if f, ok := p.frame(content); ok {
			current.frame(f)
			continue
		}
		if next := p.marker(l, line, content, indent); next != nil {
			current.name(l.start)
			current = next
			continue
		}
		if !p.readShared(current, content) && content != "" && !strings.HasPrefix(content, "- ") { // locks of a thread dump
			current.other()
		}
	}
	current.name(len(text))
	if len(thrown.Type) > 0 {
		return thrown.node
	}
	return thrown.withoutThread()
}

// marker reads "Caused by: " and "Suppressed: ". A line of a message may begin with the same words,
// but is not followed by a type.
func (p *javaParser) marker(l *lines, line, content string, indent int) *section {
	relation := Cause
	headline, found := strings.CutPrefix(content, "Caused by: ")
	if !found {
		headline, found = strings.CutPrefix(content, "Suppressed: ")
		relation, indent = Suppressed, indent-1
	}
	if !found || !isTypeName(headline) {
		return nil
	}
	next := newSection(l, l.start+len(line)-len(headline))
	indent = min(max(indent, 0), len(p.open)-1)
	next.enclosing = p.open[indent].node
	if p.nodes++; p.nodes > maxExceptions {
		next.enclosing = nil
	} else {
		next.enclosing.addChild(next.node, relation)
	}
	if relation == Suppressed {
		indent++
	}
	p.open = append(p.open[:indent], next)
	return next
}

// isTypeName reports whether a headline begins with a type: only letters and digits up to the colon
// or the end. It stops at the first other character, because a line of .NET may contain many
// headlines.
func isTypeName(headline string) bool {
	end := strings.IndexAny(headline, ": \t[(")
	return end > 0 && headline[end] == ':' || end < 0 && headline != ""
}

// readShared reads "... 6 more": the outermost frames, which are equal to those of the enclosing
// exception.
func (p *javaParser) readShared(s *section, content string) bool {
	content, found := strings.CutPrefix(content, "... ")
	if !found {
		return strings.Contains(content, "[CIRCULAR REFERENCE")
	}
	number, rest, _ := strings.Cut(content, " ")
	n, ok := parseNumber(number)
	if !ok || rest != "more" && rest != "common frames omitted" { // the latter is written by Logback
		return false
	}
	s.name(s.lines.start)
	if s.enclosing != nil {
		p.share -= s.stack.share(&s.enclosing.stack, int(n), p.share)
		s.enclosing = nil // a text may contain only one such line
	}
	return true
}

// withoutThread removes the prefix of uncaught exceptions.
func (s *section) withoutThread() *node {
	if rest, found := strings.CutPrefix(s.Message, `Exception in thread "`); found {
		if _, headline, found := strings.Cut(rest, `" `); found {
			s.Message = ""
			s.setHeadline(headline)
		}
	}
	return s.node
}

// javaFrame reads a frame:
//
//	at java.base/java.lang.reflect.Method.invoke(Method.java:569)
//	at com.example.Shop$$Lambda$14/0x0000000800c03000.run(Unknown Source) ~[shop.jar:1.0]
func javaFrame(content string) (f Frame, ok bool) {
	name, place, ok := javaNameAndPlace(content)
	if !ok {
		return f, false
	}
	f.Module, f.Function, ok = cutLast(withoutJavaModule(name), ".")
	return f.withJavaPlace(place), ok && f.Module != "" && f.Function != ""
}

func javaNameAndPlace(content string) (name, place string, ok bool) {
	content, found := strings.CutPrefix(content, "at ")
	if !found {
		return "", "", false
	}
	name, rest, found := strings.Cut(content, "(")
	if !found || strings.HasSuffix(name, " ") { // V8 writes a space there
		return "", "", false
	}
	place, jar, found := strings.Cut(rest, ")")
	if !found || jar != "" && !strings.HasPrefix(jar, " [") && !strings.HasPrefix(jar, " ~[") {
		return "", "", false
	}
	known := place == "Native Method" || strings.HasPrefix(place, "Unknown Source")
	return name, place, known || place != "" && !strings.ContainsAny(place, " ,/\\")
}

// withoutJavaModule removes class loader and module: app//, java.base@17/. The number after the
// last slash of a hidden class is not a module.
func withoutJavaModule(name string) string {
	slash := strings.LastIndexByte(name, '/')
	if slash < 0 {
		return name
	}
	if next := slash + 1; next < len(name) && name[next] >= '0' && name[next] <= '9' {
		slash = strings.LastIndexByte(name[:slash], '/')
	}
	return name[slash+1:]
}

func (f Frame) withJavaPlace(place string) Frame {
	f.Runtime = place == "Native Method"
	f.File, f.Line, _ = cutPosition(place)
	if f.Runtime || f.File == "Unknown Source" {
		f.File = ""
	}
	return f
}
