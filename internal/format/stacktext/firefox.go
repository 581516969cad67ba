// SPDX-License-Identifier: Apache-2.0

package stacktext

import "strings"

// parseFirefox reads the stack property of errors in SpiderMonkey (Firefox) and JavaScriptCore
// (Safari), which has no headline:
//
//	reserve@https://shop.example/app.js:4:21
//	async*checkout@https://shop.example/app.js:21:32
//	inner@https://shop.example/app.js line 13 > eval:1:21
//	map@[native code]
//	global code@https://shop.example/app.js:21:32
func parseFirefox(text string) *node {
	l := &lines{text: text}
	s := newSection(l, 0)
	placed := false
	for line, ok := l.line(); ok; line, ok = l.line() {
		if f, ok := firefoxFrame(strings.TrimSpace(line)); ok {
			s.frame(f)
			placed = placed || f.Line > 0
		} else {
			s.other()
		}
	}
	if !placed { // without a position, an e-mail address looks like a frame
		return nil
	}
	s.name(len(text))
	return s.node
}

func firefoxFrame(line string) (f Frame, ok bool) {
	function, place, found := strings.Cut(line, "@")
	if !found || strings.ContainsAny(function, "()") {
		return f, false
	}
	if _, rest, found := cutLast(function, "*"); found { // async*, promise callback*, setTimeout handler*
		function = rest
	}
	f.Function = function
	switch place {
	case "[native code]":
		f.Runtime = true
		return f, true
	case "": // eval in Safari
		return f, function != "" && !strings.Contains(function, ": ")
	}
	if origin, _, found := strings.Cut(place, " > "); found { // eval and Function: the position of the caller
		file, line, found := cutLast(origin, " line ")
		number, valid := parseNumber(line)
		f.File, f.Line = file, number
		return f, found && valid
	}
	f.File, f.Line, f.Column = cutPosition(place)
	return f, f.Line > 0 && f.File != ""
}
