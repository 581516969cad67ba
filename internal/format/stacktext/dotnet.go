// SPDX-License-Identifier: Apache-2.0

package stacktext

import "strings"

// parseDotNet reads the output of Exception.ToString, of .NET and of Mono. An inner exception is
// between the headline and the frames of the outer one; further members of an aggregate follow its
// frames. .NET translates the words of the frames:
//
//	System.AggregateException: One or more errors occurred. (one) (two)
//	 ---> System.Exception: one
//	   at Example.Shop.Main() in /app/Shop.cs:line 12
//	   --- End of inner exception stack trace ---
//	   at System.Threading.Tasks.Task.WaitAll(Task[] tasks)
//	 ---> (Inner Exception #1) System.Exception: two
//	   at Example.Shop.Main()<---
func parseDotNet(text string) *node {
	l := &lines{text: text}
	open := []*section{newSection(l, 0)}
	thrown := open[0].node
	nodes := 1
	for line, ok := l.line(); ok; line, ok = l.line() {
		line, closes := strings.CutSuffix(line, "<---")
		current := open[len(open)-1]
		if f, ok := dotnetFrame(line); ok {
			current.frame(f)
		} else if endsInner(line) {
			closes = true
		} else if !isRethrow(line) {
			for _, next := range current.inner(line) {
				if nodes++; nodes <= maxExceptions {
					open = append(open, next)
				}
			}
		}
		if closes && len(open) > 1 {
			open[len(open)-1].name(l.start)
			open = open[:len(open)-1]
		}
	}
	for _, s := range open {
		s.name(len(text))
	}
	return thrown
}

// endsInner reports whether a line ends an inner exception: "   --- End of inner exception stack
// trace ---".
func endsInner(line string) bool {
	return strings.HasPrefix(line, "   --- ") && strings.HasSuffix(line, " ---")
}

// isRethrow reports whether a line separates the frames of an await: "--- End of stack trace from
// previous location ---".
func isRethrow(line string) bool {
	return strings.HasPrefix(line, "--- ") && strings.HasSuffix(line, " ---")
}

const dotnetArrow = "---> "

// inner reads headlines of inner exceptions. Mono and the .NET Framework write them into the line
// of the outer one.
func (s *section) inner(line string) (found []*section) {
	outer, position := s, s.lines.start
	for {
		arrow := strings.Index(line, dotnetArrow)
		if arrow < 0 {
			break
		}
		line = line[arrow+len(dotnetArrow):]
		headline, number, member := cutMember(line)
		if !isTypeName(headline) {
			position += arrow + len(dotnetArrow)
			continue
		}
		outer.name(position + arrow)
		position += arrow + len(dotnetArrow) + len(line) - len(headline)
		line = headline
		next := newSection(s.lines, position)
		if !member {
			outer.addChild(next.node, Cause)
		} else if number != "0" || len(outer.children) == 0 { // Mono and the .NET Framework write the first inner exception twice
			outer.addChild(next.node, Member)
		}
		found = append(found, next)
		outer = next
	}
	if len(found) == 0 {
		s.other()
	}
	return found
}

// cutMember removes "(Inner Exception #1) ".
func cutMember(headline string) (rest, number string, found bool) {
	rest, found = strings.CutPrefix(headline, "(Inner Exception #")
	if !found {
		return headline, "", false
	}
	number = rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if rest, found = strings.CutPrefix(rest[len(number):], ") "); !found {
		return headline, "", false
	}
	return rest, number, true
}

// dotnetFrame reads a frame. .NET translates "at", "in" and "line"; Mono writes the offset in the
// code:
//
//	 at Example.Shop.Cart`1.Reserve(String sku, Int32 count) in /app/Shop.cs:line 12
//	at Example.Shop.Cart`1[T].Checkout () [0x00009] in /app/Shop.cs:25
func dotnetFrame(line string) (f Frame, ok bool) {
	content := strings.TrimSpace(line)
	word, content, found := strings.Cut(content, " ")
	if !found || line[0] != ' ' || strings.ContainsAny(word, "().:-#[]0123456789") {
		return f, false
	}
	name, rest, found := strings.Cut(content, "(")
	arguments, place, closed := strings.Cut(rest, ")")
	name = strings.TrimSuffix(name, " ")
	if !found || !closed || strings.ContainsAny(name, " :/") || strings.ContainsAny(arguments, ":/") {
		return f, false
	}
	if f.Module, f.Function, ok = dotnetMethod(name); !ok {
		return f, false
	}
	if offset, found := strings.CutPrefix(place, " [0x"); found {
		_, place, _ = strings.Cut(offset, "]")
	}
	if place = strings.TrimSpace(place); place == "" {
		return f, true
	}
	_, place, _ = strings.Cut(place, " ")
	file, position, found := cutLast(place, ":")
	if _, number, found := cutLast(position, " "); found {
		position = number
	}
	f.Line, ok = parseNumber(position)
	if !strings.HasPrefix(file, "<") { // for an assembly without symbols, Mono writes its identifier
		f.File = file
	}
	return f, ok && found
}

// dotnetMethod splits a method off its type, and restores names that the compiler changed:
//
//	Shop.Program.<Later>d__3.MoveNext             →  Shop.Program, Later
//	Shop.Program.<>c__DisplayClass1_0.<Main>b__0  →  Shop.Program, Main { <lambda> }
func dotnetMethod(name string) (module, method string, ok bool) {
	module, method = splitOutsideBrackets(name)
	if module == "" || method == "" {
		return "", "", false
	}
	module, method = withoutArguments(module), withoutArguments(method)
	if outer, last := splitOutsideBrackets(module); outer != "" {
		source, number, found := strings.Cut(strings.TrimPrefix(last, "<"), ">")
		switch {
		case !found || last[0] != '<':
		case method == "MoveNext" && source != "" && strings.HasPrefix(number, "d__"):
			return outer, source, true
		case source == "" && strings.HasPrefix(number, "c"):
			module = outer
		}
	}
	if source, number, found := strings.Cut(strings.TrimPrefix(method, "<"), ">"); found && method[0] == '<' && strings.HasPrefix(number, "b__") {
		method = source + " { <lambda> }"
	}
	return module, method, true
}

// splitOutsideBrackets splits a name at its last dot outside of <> and []. Names of constructors
// begin with a dot.
func splitOutsideBrackets(name string) (before, after string) {
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case '>', ']':
			depth++
		case '<', '[':
			depth--
		case '.':
			if depth != 0 {
				continue
			}
			if name[i-1] == '.' {
				i--
			}
			return name[:i], name[i+1:]
		}
	}
	return "", name
}

// withoutArguments removes type arguments from the end of a name: ToList[TSource].
func withoutArguments(name string) string {
	if !strings.HasSuffix(name, "]") {
		return name
	}
	name, _, _ = strings.Cut(name, "[")
	return name
}
