// SPDX-License-Identifier: Apache-2.0

package stacktext

import "strings"

// parseV8 reads the stack property of errors in V8 (Node, Chrome), and chains as util.inspect
// prints them:
//
//	CheckoutError: order failed
//	    at Cart.checkout (/app/shop.js:31:13)
//	    at async Promise.all (index 0) {
//	  [cause]: TypeError: no stock
//	      at Cart.reserve (/app/shop.js:19:11)
//	}
func parseV8(text string) *node {
	l := &lines{text: text}
	current := newSection(l, 0)
	thrown := current.node
	properties := false // util.inspect prints other properties between an error and its cause
	for line, ok := l.line(); ok; line, ok = l.line() {
		content := strings.TrimLeft(line, " \t")
		if headline, found := strings.CutPrefix(content, "[cause]: "); found && current.stack.total > 0 {
			next := newSection(l, l.start+len(line)-len(headline))
			current.addChild(next.node, Cause)
			current.name(l.start)
			current, properties = next, false
			continue
		}
		if properties {
			continue
		}
		content, properties = strings.CutSuffix(content, " {")
		if f, ok := v8Frame(content); ok {
			current.frame(f)
		} else {
			properties = false
			current.other()
		}
	}
	current.name(len(text))
	return thrown
}

// v8Frame reads a frame:
//
//	at Cart.checkout (/app/shop.js:31:13)
//	at async file:///app/shop.mjs:4:25
//	at eval (eval at created (/app/shop.js:42:18), <anonymous>:3:12)
//	at Array.map (<anonymous>)
func v8Frame(content string) (f Frame, ok bool) {
	content, found := strings.CutPrefix(content, "at ")
	if !found {
		return f, false
	}
	content = strings.TrimPrefix(content, "async ")
	place := content
	if inner, found := strings.CutSuffix(content, ")"); found {
		if f.Function, place, found = strings.Cut(inner, " ("); !found {
			return f, false
		}
	}
	switch {
	case place == "<anonymous>", place == "native", strings.HasPrefix(place, "index "):
		f.File, f.Runtime = place, true // Sentry's SDK sends this text as the file
		return f, f.Function != ""
	case strings.HasPrefix(place, "eval at "):
		place = evalOrigin(place)
	}
	f.File, f.Line, f.Column = cutPosition(strings.TrimPrefix(place, "address at ")) // Hermes
	f.Runtime = strings.HasPrefix(f.File, "node:")
	return f, f.Line > 0 && f.File != ""
}

// evalOrigin returns the position in a file that evaluated the code: positions in evaluated code
// refer to no file.
//
//	eval at created (/app/shop.js:42:18), <anonymous>:3:12
//	eval at inner (eval at outer (/app/shop.js:42:18), <anonymous>:1:2), <anonymous>:3:12
func evalOrigin(place string) string {
	if open := strings.LastIndex(place, " ("); open >= 0 {
		place, _, _ = strings.Cut(place[open+2:], ")")
	}
	return place
}
