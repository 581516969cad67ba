// SPDX-License-Identifier: Apache-2.0

package stacktext

import (
	"strconv"
	"strings"
)

// parseElixir reads the output of Exception.format and Exception.format_stacktrace:
//
//	** (KeyError) key "a" not found
//	    (elixir 1.14.0) lib/enum.ex:1658: Enum."-map/2-lists^map/1-0-"/2
//	    lib/shop.ex:20: anonymous fn/0 in Shop.Cart.checkout/1
//	    Shop.Cart.missing(1, "two")
func parseElixir(text string) *node {
	l := &lines{text: text}
	s := newSection(l, 0)
	for line, ok := l.line(); ok; line, ok = l.line() {
		if content, indented := strings.CutPrefix(line, "    "); !indented {
			s.other()
		} else if f, ok := elixirFrame(content); ok {
			s.frame(f)
		} else {
			s.other()
		}
	}
	s.name(len(text))
	if rest, found := strings.CutPrefix(s.Message, "** ("); found {
		s.Type, s.Message, _ = strings.Cut(rest, ") ")
		s.Message = strings.TrimSpace(s.Message)
	}
	return s.node
}

func elixirFrame(content string) (f Frame, ok bool) {
	if rest, found := strings.CutPrefix(content, "("); found {
		application, rest, found := strings.Cut(rest, ") ")
		if !found {
			return f, false
		}
		f.Package, _, _ = strings.Cut(application, " ")
		content = rest
	}
	if place, function, found := strings.Cut(content, ": "); found {
		if file, line, found := cutNumber(place); found && !strings.Contains(file, " ") {
			f.File, f.Line, content = file, line, function
		}
	}
	f.Function = withArity(content)
	f.Module = elixirModule(f.Function)
	return f, f.Module != "" || f.Function == "(file)" && f.File != ""
}

// withArity replaces arguments with their number: reserve(:atom) → reserve/1. Elixir writes
// arguments if no clause matched; they would split groups.
func withArity(function string) string {
	name, arguments, found := strings.Cut(strings.TrimSuffix(function, ")"), "(")
	if !found || name == "" || !strings.HasSuffix(function, ")") {
		return function
	}
	return name + "/" + strconv.Itoa(countTerms(arguments))
}

// countTerms counts the terms in a list, ignoring commas in brackets and quoted texts.
func countTerms(list string) int {
	if list == "" {
		return 0
	}
	terms, depth := 1, 0
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				terms++
			}
		case '"':
			for i++; i < len(list) && list[i] != '"'; i++ {
				if list[i] == '\\' {
					i++
				}
			}
		}
	}
	return terms
}

// elixirModule returns the module of a function: Shop.Cart of "anonymous fn/0 in
// Shop.Cart.checkout/1", :maps of ":maps.fold_1/3". Other texts have none.
func elixirModule(function string) string {
	if _, outer, found := strings.Cut(function, " in "); found {
		function = outer
	}
	if module, _, found := strings.Cut(function, `."`); found {
		return module
	}
	name, arity, found := cutLast(function, "/")
	if _, number := parseNumber(arity); !found || !number || strings.Contains(name, " ") {
		return ""
	}
	module, _, _ := cutLast(name, ".")
	if module == name {
		return ""
	}
	return module
}
