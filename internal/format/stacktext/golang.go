// SPDX-License-Identifier: Apache-2.0

package stacktext

import "strings"

// parseGo reads the output of runtime/debug.Stack, of an uncaught panic, and the shorter form of
// zap and github.com/pkg/errors, which has no header and no arguments:
//
//	panic: no stock
//
//	goroutine 1 [running]:
//	main.(*server).handle(0x140000b2000, {0x4cafe3?, 0x5?})
//		/app/shop.go:17 +0x45
//	created by main.main in goroutine 1
//		/app/shop.go:66 +0x5b
func parseGo(text string) *node {
	l := &lines{text: text}
	p := goParser{node: &node{}}
	function, start, headline := "", 0, len(text)
	for line, ok := l.line(); ok; line, ok = l.line() {
		place, indented := strings.CutPrefix(line, "\t")
		switch {
		case strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, "]:"):
			if p.frames > 0 { // the frames of another goroutine follow
				return p.node
			}
			headline = l.start
		case strings.HasPrefix(line, "created by "):
			return p.node
		case indented && function != "":
			if f, ok := goFrame(function, place); ok {
				if p.frames == 0 {
					p.setPanic(text[:min(headline, start)])
				}
				p.add(f)
			}
			function = ""
		case strings.HasPrefix(line, "...") && strings.HasSuffix(line, " frames elided..."):
			number, _, _ := strings.Cut(line[len("..."):], " ")
			n, _ := parseNumber(number)
			p.stack.elided += int(n)
		default:
			function, start = line, l.start
		}
	}
	return p.node
}

type goParser struct {
	*node
	frames   int
	panicked bool
}

// add adds a frame. It removes innermost frames that do not belong to the failure: those of
// OpenTelemetry, which recorded the stack, and, after a panic, those of the function that
// recovered.
func (p *goParser) add(f Frame) {
	p.frames++
	switch {
	case f.Module == "" && f.Function == "panic":
		if !p.panicked { // otherwise, this panic replaced an earlier one
			p.stack.reset()
		}
		p.panicked = true
	case p.stack.total == 0 && (f.Module == "runtime/debug" || f.Module == "runtime" || strings.HasPrefix(f.Module, "go.opentelemetry.io/otel")):
	default:
		p.stack.add(f)
	}
}

// setPanic parses the text before the frames: "panic: no stock [recovered]", optionally followed by
// a line about a signal.
func (n *node) setPanic(text string) {
	text, _, _ = strings.Cut(text, "\n\n")
	text, _, _ = strings.Cut(text, "\n[signal ")
	n.setHeadline(text)
}

// goFrame reads the two lines of a frame.
func goFrame(function, place string) (f Frame, ok bool) {
	place, _, _ = strings.Cut(place, " +0x")
	if strings.HasSuffix(function, ")") {
		function, _, ok = cutLast(function, "(")
		if !ok {
			return f, false
		}
	}
	if f.File, f.Line, ok = cutNumber(place); !ok || function == "" || strings.ContainsAny(function, " \t") {
		return f, false
	}
	f.Function, f.Module = SplitGo(function)
	return f, true
}

// SplitGo splits a qualified name: net/http.(*Server).Serve → (*Server).Serve, net/http.
func SplitGo(name string) (function, module string) {
	path := strings.LastIndexByte(name, '/') + 1
	if bracket := strings.IndexByte(name, '['); bracket >= 0 && bracket < path { // a bracket before the path belongs to a type parameter
		path = strings.LastIndexByte(name[:bracket], '/') + 1
	}
	if dot := strings.IndexByte(name[path:], '.'); dot > 0 {
		return name[path+dot+1:], name[:path+dot]
	}
	return name, ""
}
