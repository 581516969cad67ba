// SPDX-License-Identifier: Apache-2.0

// Package swift demangles the names of Swift functions.
//
// Swift's mangling is a program in postfix notation: identifiers and types are pushed, operators
// combine them (docs/ABI/Mangling.rst of the Swift compiler states the grammar). A machine executes
// it:
//
//	swift.go          the machine: its stack, the operators of one letter, substitutions
//	identifier.go     identifiers with word substitutions and Punycode, numbers, local and private names
//	types.go          types, generic signatures, conformances
//	entities.go       functions, accessors, closures, initializers
//	thunks.go         witnesses, specializations, and other functions that the compiler makes from these
//
// Names have the simplified form of Apple's and Sentry's tools, without modules, with the labels of
// parameters and without their types:
//
//	closure #1 in static Cart.add(_:to:)
//
// Nodes hold the text of their name, never a tree, because back references would let trees grow
// exponentially. Types that no name shows (for example function types) have no text. Everything
// that the machine does not understand is an error: a name is never a guess.
//
// Not supported: the mangling before Swift 4 (_TF), macros, differentiation, functions of function
// types (for example outlined copies of closures), and symbols of data.
package swift

import "strings"

const (
	// maxLength bounds symbols and names. Names of generic closures reach two kilobytes.
	maxLength = 4 << 10
	// maxWork bounds the bytes of all texts that one symbol makes.
	maxWork = 16 * maxLength
	// maxNodes bounds the stack and the substitutions: a repeated substitution pushes many nodes
	// with few bytes.
	maxNodes = 1 << 10
)

// Demangle returns the simplified name of a function, or the symbol itself and false.
func Demangle(symbol string) (name string, ok bool) {
	code, old, ok := withoutPrefix(symbol)
	if !ok || len(symbol) > maxLength {
		return symbol, false
	}
	m := machine{in: code, old: old}
	for m.at < len(m.in) && m.in[m.at] != '.' && !m.bad { // the linker adds suffixes: ".resume.0", ".llvm.1234"
		m.operator(m.next())
	}
	if m.bad || len(m.stack) != 1 || m.stack[0].kind != entity {
		return symbol, false
	}
	name = m.join(m.prefix, m.stack[0].text)
	if m.bad {
		return symbol, false
	}
	return name, true
}

// withoutPrefix also reports whether the symbol is of Swift 4.0, which mangled labels in types.
func withoutPrefix(symbol string) (code string, old, ok bool) {
	for _, prefix := range []string{"$s", "_$s", "$S", "_$S", "$e", "_$e", "_T0"} {
		if code, ok := strings.CutPrefix(symbol, prefix); ok {
			return code, prefix == "_T0", true
		}
	}
	return "", false, false
}

type kind uint8

const (
	none kind = iota
	identifier
	declName // an identifier with a discriminator, or an operator
	module
	typ
	entity      // a function, variable, and so on
	emptyList   // y
	firstOfList // _
	variadic    // d
	effect      // throws, async, and other properties of function types
	signature   // of generics
	requirement // of a signature
	conformance
	retroactive // a conformance in generic arguments
	privateName // a discriminator without a name
	opaque      // the declaration of an opaque type
)

// node is a part of the name. The zero node is the result of an error.
type node struct {
	kind kind
	// text of a type is empty if no name shows it.
	text string
	// labels of parameters, as in "_:to:", are those of a tuple or function type of Swift 4.0.
	labels string
	// generics are those of a generic function type.
	generics string
	// count is that of the elements of a tuple, or of the parameters of a function.
	count int
	// outer is the length of the enclosing type in the text.
	outer int
	flags flag
}

type flag uint16

const (
	tuple    flag = 1 << iota
	function      // a type of functions that have labels
	class
	protocol
	standard // a type of the standard library with a sugared form
	phrase   // a text with " in " or "#1", which cannot prefix a member
	local
	symbolic // an operator
	extended // by an extension
	nominal  // a class, protocol and so on, without arguments
	existential
	union // a composition of protocols, which needs parentheses
)

func (n node) is(f flag) bool { return n.flags&f != 0 }

type machine struct {
	in            string
	at            int
	old           bool
	bad           bool
	work          int
	stack         []node
	substitutions []node
	words         []string
	prefix        string // what the compiler made of the function, outermost first
	specialized   bool
}

// operator executes the operator that starts with c.
func (m *machine) operator(c byte) {
	switch {
	case c >= '0' && c <= '9':
		m.at--
		m.push(m.identifier())
	case strings.IndexByte("COPVa", c) >= 0:
		m.nominal(c)
	case strings.IndexByte("BGIQXcmpqtux$", c) >= 0:
		m.typeOperator(c)
	case strings.IndexByte("EFZfiv", c) >= 0:
		m.entityOperator(c)
	case strings.IndexByte("MTWw", c) >= 0:
		m.thunkOperator(c)
	case strings.IndexByte("HRglr", c) >= 0:
		m.genericOperator(c)
	default:
		m.basicOperator(c)
	}
}

func (m *machine) basicOperator(c byte) {
	switch c {
	case 'A':
		m.backReference()
	case 'K':
		m.push(node{kind: effect})
	case 'L':
		m.localName()
	case 'S':
		m.standard()
	case 'Y':
		m.effect()
	case '_':
		m.push(node{kind: firstOfList})
	case 'd':
		m.push(node{kind: variadic})
	case 'h', 'n', 'z':
		t := m.pop(typ)
		t.text = "" // with an ownership: "inout Foo"
		m.push(t)
	case 'o':
		m.operatorName()
	case 's':
		m.push(node{kind: module})
	case 'y':
		m.push(node{kind: emptyList})
	default:
		m.bad = true
	}
}

// backReference pushes substitutions: "AaB" and "A_".
func (m *machine) backReference() {
	repeat := 0
	for !m.bad {
		c := m.next()
		switch {
		case c >= 'a' && c <= 'z':
			m.substitute(int(c-'a'), repeat)
			repeat = 0
		case c >= 'A' && c <= 'Z':
			m.substitute(int(c-'A'), repeat)
			return
		case c == '_':
			m.substitute(26, 1)
			return
		default:
			m.at--
			repeat = m.number()
			if m.accept('_') {
				m.substitute(repeat+27, 1)
				return
			}
		}
	}
}

func (m *machine) substitute(i, repeat int) {
	if i >= len(m.substitutions) {
		m.bad = true
		return
	}
	for range max(repeat, 1) {
		m.push(m.substitutions[i])
	}
}

func (m *machine) remember(n node) {
	if len(m.substitutions) >= maxNodes {
		m.bad = true
		return
	}
	m.substitutions = append(m.substitutions, n)
}

func (m *machine) next() byte {
	if m.at >= len(m.in) {
		m.bad = true
		return 0
	}
	m.at++
	return m.in[m.at-1]
}

func (m *machine) peek() byte {
	if m.at >= len(m.in) {
		return 0
	}
	return m.in[m.at]
}

func (m *machine) accept(c byte) bool {
	if m.at >= len(m.in) || m.in[m.at] != c {
		return false
	}
	m.at++
	return true
}

func (m *machine) push(n node) {
	if n.kind == none || len(m.stack) >= maxNodes {
		m.bad = true
		return
	}
	m.stack = append(m.stack, n)
}

// top returns the kind of the top node.
func (m *machine) top() kind {
	if len(m.stack) == 0 {
		return none
	}
	return m.stack[len(m.stack)-1].kind
}

// pop returns the top node, which must have the kind.
func (m *machine) pop(k kind) node {
	if m.top() != k {
		m.bad = true
		return node{}
	}
	n := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return n
}

// popIf reports whether it removed a node of the kind.
func (m *machine) popIf(k kind) bool {
	if m.top() != k {
		return false
	}
	m.stack = m.stack[:len(m.stack)-1]
	return true
}

// shown returns the text of a type that is part of the name.
func (m *machine) shown(n node) string {
	m.bad = m.bad || n.text == ""
	return n.text
}

// join concatenates, within the limits.
func (m *machine) join(parts ...string) string {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	m.work += size
	if size > maxLength || m.work > maxWork {
		m.bad = true
		return ""
	}
	return strings.Join(parts, "")
}

// list returns the texts with separators. It checks the length first, because a thousand nodes may
// share a long text.
func (m *machine) list(texts []string, separator string) string {
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	if size > maxLength {
		m.bad = true
		return ""
	}
	return strings.Join(texts, separator)
}
