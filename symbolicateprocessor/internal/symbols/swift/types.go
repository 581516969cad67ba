// SPDX-License-Identifier: Apache-2.0

package swift

import (
	"strconv"
	"strings"
)

// standardTypes are the types of the standard library with a letter.
var standardTypes = map[byte]string{
	'A': "AutoreleasingUnsafeMutablePointer", 'a': "Array", 'B': "BinaryFloatingPoint", 'b': "Bool", 'D': "Dictionary", 'd': "Double", 'E': "Encodable",
	'e': "Decodable", 'F': "FloatingPoint", 'f': "Float", 'G': "RandomNumberGenerator", 'H': "Hashable", 'h': "Set", 'I': "DefaultIndices", 'i': "Int",
	'J': "Character", 'j': "Numeric", 'K': "BidirectionalCollection", 'k': "RandomAccessCollection", 'L': "Comparable", 'l': "Collection",
	'M': "MutableCollection", 'm': "RangeReplaceableCollection", 'N': "ClosedRange", 'n': "Range", 'O': "ObjectIdentifier", 'P': "UnsafePointer",
	'p': "UnsafeMutablePointer", 'Q': "Equatable", 'q': "Optional", 'R': "UnsafeBufferPointer", 'r': "UnsafeMutableBufferPointer", 'S': "String",
	's': "Substring", 'T': "Sequence", 't': "IteratorProtocol", 'U': "UnsignedInteger", 'u': "UInt", 'V': "UnsafeRawPointer", 'v': "UnsafeMutableRawPointer",
	'W': "UnsafeRawBufferPointer", 'w': "UnsafeMutableRawBufferPointer", 'X': "RangeExpression", 'x': "Strideable", 'Y': "RawRepresentable",
	'y': "StringProtocol", 'Z': "SignedInteger", 'z': "BinaryInteger",
}

// concurrencyTypes follow "Sc".
var concurrencyTypes = map[byte]string{
	'A': "Actor", 'C': "CheckedContinuation", 'c': "UnsafeContinuation", 'E': "CancellationError", 'e': "UnownedSerialExecutor", 'F': "Executor",
	'f': "SerialExecutor", 'G': "TaskGroup", 'g': "ThrowingTaskGroup", 'h': "TaskExecutor", 'I': "AsyncIteratorProtocol", 'i': "AsyncSequence",
	'J': "UnownedJob", 'M': "MainActor", 'P': "TaskPriority", 'S': "AsyncStream", 's': "AsyncThrowingStream", 'T': "Task", 't': "UnsafeCurrentTask",
}

// standard reads the operators that start with "S".
func (m *machine) standard() {
	switch {
	case m.accept('o'), m.accept('C'):
		m.push(node{kind: module})
	case m.accept('g'):
		t := optional(m, m.pop(typ))
		m.remember(t)
		m.push(t)
	default:
		repeat := 1
		if c := m.peek(); c >= '0' && c <= '9' {
			repeat = m.natural()
		}
		names, protocols := standardTypes, "BEeFGHjKkLlMmQTtUXxYyZz"
		if m.accept('c') {
			names, protocols = concurrencyTypes, "AFfhIi"
		}
		c := m.next()
		t := node{kind: typ, text: names[c], flags: nominal | standard}
		if strings.IndexByte(protocols, c) >= 0 {
			t.flags |= protocol
		}
		m.bad = m.bad || t.text == ""
		for i := 0; i < repeat && !m.bad; i++ {
			m.push(t)
		}
	}
}

func optional(m *machine, t node) node {
	switch {
	case t.text == "":
		return node{kind: typ}
	case t.is(union):
		return node{kind: typ, text: m.join("(", t.text, ")?")}
	}
	return node{kind: typ, text: m.join(t.text, "?")}
}

// nominal pushes a class, enumeration, protocol, structure or type alias.
func (m *machine) nominal(c byte) {
	name := m.declName()
	context := m.context()
	t := m.member(context, name)
	t.kind = typ
	if context.kind == typ && !context.is(extended|phrase) && !t.is(phrase) {
		t.outer = len(context.text)
		t.flags |= context.flags & standard
	}
	t.flags |= nominal
	switch c {
	case 'C':
		t.flags |= class
	case 'P':
		t.flags |= protocol
	}
	m.remember(t)
	m.push(t)
}

// typeOperator executes the operators of types.
func (m *machine) typeOperator(c byte) {
	switch c {
	case 'B':
		m.builtin()
	case 'G':
		m.boundGeneric()
	case 'I':
		m.implementation()
	case 'Q':
		m.associatedType()
	case 'X':
		m.specialType()
	case 'c':
		m.push(m.functionType())
	case 'm':
		m.metatype()
	case 'p':
		m.push(m.protocols())
	case 'q':
		m.push(node{kind: typ, text: m.parameter()})
	case 't':
		m.push(m.tuple())
	case 'u': // a generic type
		generics := m.pop(signature).text
		t := m.pop(typ)
		t.text, t.generics = "", generics
		m.push(t)
	case 'x':
		m.push(node{kind: typ, text: "A"})
	case '$':
		m.accept('n')
		m.push(node{kind: typ, text: strconv.Itoa(m.index())})
	}
}

func (m *machine) builtin() {
	switch c := m.next(); c {
	case 'f', 'i':
		n := strconv.Itoa(m.number())
		m.bad = !m.accept('_') || m.bad
		prefix := "Builtin.Int"
		if c == 'f' {
			prefix = "Builtin.FPIEEE"
		}
		m.push(node{kind: typ, text: prefix + n})
	case 'v':
		m.number()
		m.bad = !m.accept('_') || m.bad
		m.pop(typ)
		m.push(node{kind: typ})
	case 'b', 'B', 'c', 'D', 'e', 'd', 'I', 'j', 'P', 'O', 'o', 'p', 't', 'w', 'A':
		m.push(node{kind: typ})
	default:
		m.bad = true
	}
}

// metatype pushes a type of a type.
func (m *machine) metatype() {
	t := m.pop(typ)
	if t.text != "" && !t.is(existential) {
		m.push(node{kind: typ, text: m.join(t.text, ".Type")})
		return
	}
	m.push(node{kind: typ}) // of a protocol: "Foo.Protocol"
}

// hide removes the text of the top node.
func (m *machine) hide() {
	if len(m.stack) > 0 {
		m.stack[len(m.stack)-1].text = ""
	}
}

// specialType reads the operators that start with "X".
func (m *machine) specialType() {
	switch c := m.next(); c {
	case 'E': // a function that does not escape
		m.push(m.functionType())
	case 'A', 'B', 'C', 'K', 'L', 'O', 'U', 'f':
		f := m.functionType()
		f.flags = 0
		m.push(f)
	case 'M', 'm':
		m.next()
		m.metatype()
		m.hide() // with a representation: "@thick Foo.Type"
	case 'p':
		t := m.pop(typ)
		switch {
		case t.is(union):
			t.text = m.join("(", t.text, ").Type")
		case t.text != "":
			t.text = m.join(t.text, ".Type")
		}
		m.push(node{kind: typ, text: t.text})
	case 'D', 'b', 'o', 'u', 'w':
		m.pop(typ)
		m.push(node{kind: typ})
	case 'c', 'l':
		if c == 'c' {
			m.pop(typ)
		}
		m.protocols()
		m.push(node{kind: typ})
	case 'P':
		for last := false; !last && !m.bad; m.pop(requirement) {
			last = m.popIf(firstOfList)
		}
		m.pop(typ)
		m.push(node{kind: typ})
	case 'X':
		m.pop(signature)
		m.types()
		m.types()
		m.push(node{kind: typ})
	case 'x':
		m.types()
		m.push(node{kind: typ})
	case 'e':
		m.push(node{kind: typ})
	default:
		m.bad = true
	}
}

// effect reads the operators that start with "Y".
func (m *machine) effect() {
	switch m.next() {
	case 'a', 'b', 'A', 'C', 'T':
		m.push(node{kind: effect})
	case 'j':
		m.next()
		m.push(node{kind: effect})
	case 'c', 'K': // an actor, an error
		m.pop(typ)
		m.push(node{kind: effect})
	case 'i', 'k', 't', 'u':
		t := m.pop(typ)
		t.text = ""
		m.push(t)
	default:
		m.bad = true
	}
}

// functionType pops the effects, parameters and result.
func (m *machine) functionType() node {
	for m.popIf(effect) {
	}
	f := node{kind: typ, flags: function}
	if !m.popIf(emptyList) {
		p := m.pop(typ)
		f.count, f.labels = 1, "_:"
		if p.is(tuple) {
			f.count, f.labels = p.count, p.labels
		}
	}
	if !m.popIf(emptyList) {
		m.pop(typ)
	}
	return f
}

// tuple pops the elements, which are in reverse order.
func (m *machine) tuple() node {
	t := node{kind: typ, text: "()", flags: tuple}
	if m.popIf(emptyList) {
		return t
	}
	var labels, texts []string
	shown := true
	for last := false; !last && !m.bad; t.count++ {
		last = m.popIf(firstOfList)
		dots, label, prefix := "", "_:", ""
		if m.popIf(variadic) {
			dots = "..."
		}
		if m.top() == identifier {
			name := m.pop(identifier).text
			label, prefix = name+":", name+": "
		}
		e := m.pop(typ)
		shown = shown && e.text != ""
		labels = append(labels, label)
		texts = append(texts, m.join(prefix, e.text, dots))
	}
	t.labels, t.text = m.join(reversed(labels)...), ""
	if shown {
		t.text = m.join("(", m.list(reversed(texts), ", "), ")")
	}
	return t
}

func reversed(s []string) []string {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
	return s
}

// types pops a list of types.
func (m *machine) types() {
	if m.popIf(emptyList) {
		return
	}
	for last := false; !last && !m.bad; m.pop(typ) {
		last = m.popIf(firstOfList)
	}
}

// protocols pops a composition of protocols.
func (m *machine) protocols() node {
	if m.popIf(emptyList) {
		return node{kind: typ, text: "Any", flags: existential}
	}
	var names []string
	for last := false; !last && !m.bad; {
		last = m.popIf(firstOfList)
		names = append(names, m.protocol().text)
	}
	t := node{kind: typ, text: m.join(m.list(reversed(names), " & ")), flags: existential}
	if len(names) > 1 {
		t.flags |= union
	}
	return t
}

// protocol pops a protocol: a type, or the name of one without its operator.
func (m *machine) protocol() node {
	if m.top() == typ {
		t := m.pop(typ)
		m.bad = m.bad || !t.is(protocol)
		return t
	}
	name := m.declName()
	return m.member(m.context(), name)
}

// boundGeneric pops a list of arguments for each level of nested types.
func (m *machine) boundGeneric() {
	t := m.arguments(func() node {
		t := m.pop(typ)
		m.bad = m.bad || !t.is(nominal)
		return t
	})
	m.remember(t)
	m.push(t)
}

func (m *machine) arguments(base func() node) node {
	for m.popIf(retroactive) {
	}
	var lists [2][]string // of the type, and of the one around it
	shown := true
	for level := 0; !m.bad; level++ {
		for m.top() == typ {
			a := m.pop(typ).text
			shown = shown && a != "" && level < len(lists)
			lists[min(level, 1)] = append(lists[min(level, 1)], a)
		}
		if m.popIf(emptyList) {
			break
		}
		m.pop(firstOfList)
	}
	t, args, outer := base(), reversed(lists[0]), reversed(lists[1])
	t.kind = typ
	switch {
	case !shown || t.text == "" || len(outer) > 0 && t.outer == 0:
		t.text = ""
	default:
		t.text = m.join(m.withArguments(t.text[:t.outer], t.is(standard), outer), m.withArguments(t.text[t.outer:], t.is(standard), args))
	}
	t.flags, t.outer = t.flags&^(standard|nominal), 0
	return t
}

func (m *machine) withArguments(name string, standard bool, arguments []string) string {
	switch {
	case len(arguments) == 0:
		return name
	case standard && name == "Array" && len(arguments) == 1:
		return m.join("[", arguments[0], "]")
	case standard && name == "Dictionary" && len(arguments) == 2:
		return m.join("[", arguments[0], " : ", arguments[1], "]")
	case standard && name == "Optional" && len(arguments) == 1:
		return m.join(arguments[0], "?")
	}
	return m.join(name, "<", m.list(arguments, ", "), ">")
}

// implementation pops a function type of the intermediate language. Its letters state the
// conventions of parameters and results.
func (m *machine) implementation() {
	if m.accept('s') { // substitutions
		m.arguments(func() node { return m.pop(signature) })
	}
	if m.accept('I') {
		m.arguments(func() node { return node{} })
	}
	m.popIf(signature)
	for _, letters := range []string{"P", "e", "AN", "O", "dlfr", "ygxt", "BCMJKVW", "AIG", "h", "H", "T"} {
		if c := m.peek(); c != 0 && strings.IndexByte(letters, c) >= 0 {
			m.at++
		}
	}
	for !m.accept('_') && !m.bad {
		switch c := m.next(); {
		case strings.IndexByte("wTIL", c) >= 0: // of the parameter before
		case c == 'Y', c == 'z': // a yield, an error: the convention follows
		case strings.IndexByte("iclbnXxygevpmrodualk", c) >= 0:
			m.pop(typ)
		default:
			m.bad = true
		}
	}
	m.push(node{kind: typ})
}

// parameter reads the index of a generic parameter.
func (m *machine) parameter() string {
	switch {
	case m.accept('z'):
		return "A"
	case m.accept('s'):
		return "Self"
	case m.accept('d'):
		depth := m.index() + 1
		return genericName(depth, m.index())
	}
	return genericName(0, m.index()+1)
}

// genericName is A, B, … Z, AB, BB, … and with a depth A1.
func genericName(depth, i int) string {
	name := string(rune('A' + i%26))
	for i /= 26; i > 0; i /= 26 {
		name += string(rune('A' + i%26))
	}
	if depth > 0 {
		name += strconv.Itoa(depth)
	}
	return name
}

// associatedType reads the operators that start with "Q".
func (m *machine) associatedType() {
	t := node{kind: typ}
	switch c := m.next(); c {
	case 'a':
		name := m.pop(identifier).text
		t.text = m.nested(m.pop(typ).text, name)
	case 'x', 'X':
		name := m.associatedName(c == 'X')
		t.text = m.nested(m.pop(typ).text, name)
	case 'y', 'Y':
		base := m.parameter()
		t.text = m.nested(base, m.associatedName(c == 'Y'))
	case 'z', 'Z':
		t.text = m.nested("A", m.associatedName(c == 'Z'))
	case 'O':
		m.context()
		m.push(node{kind: opaque})
		return
	case 'o':
		m.index()
		t = m.arguments(func() node { return m.pop(opaque) })
	case 'r', 'u':
		m.push(t)
		return
	case 'R', 'U':
		m.index()
		m.push(t)
		return
	case 'p':
		m.pop(typ)
		m.pop(typ)
		m.push(t)
		return
	case 'e':
		m.index()
		m.pop(typ)
		m.push(t)
		return
	case 'P', 'S':
		if c == 'S' {
			m.next()
		}
		m.types()
		m.push(t)
		return
	default:
		m.bad = true
		return
	}
	m.remember(t)
	m.push(t)
}

func (m *machine) nested(base, name string) string {
	if base == "" || name == "" {
		return ""
	}
	return m.join(base, ".", name)
}

// associatedName pops the name of an associated type, or a path of them. The name is empty for
// types that no name shows.
func (m *machine) associatedName(path bool) string {
	if !path {
		return m.associated()
	}
	var names []string
	for last := false; !last && !m.bad; {
		last = m.popIf(firstOfList)
		names = append(names, m.associated())
	}
	return m.join(m.list(reversed(names), "."))
}

func (m *machine) associated() string {
	prefix := ""
	if m.top() == typ {
		prefix = m.protocol().text + "."
	}
	return m.join(prefix, m.pop(identifier).text)
}

// genericOperator executes the operators of signatures and conformances.
func (m *machine) genericOperator(c byte) {
	switch c {
	case 'H':
		m.conformanceOperator(m.next())
	case 'R':
		m.requirement()
	case 'g':
		m.index()
		m.pop(conformance)
		m.push(node{kind: retroactive})
	case 'l':
		m.signature([]int{1})
	case 'r':
		var counts []int
		for !m.accept('l') && !m.bad {
			if m.accept('z') {
				counts = append(counts, 0)
			} else {
				counts = append(counts, m.index()+1)
			}
		}
		m.signature(counts)
	}
}

// signature pops requirements, and pushes "<A, B><A1>".
func (m *machine) signature(counts []int) {
	packs := ""
	for m.top() == requirement {
		packs = m.join(packs, m.pop(requirement).text)
	}
	var names []string
	text := ""
	if len(counts) == 0 { // only requirements
		text = "<>"
	}
	for depth, count := range counts {
		names = names[:0]
		for i := 0; i < count && !m.bad; i++ {
			name := genericName(depth, i)
			if strings.Contains(packs, " "+name+" ") {
				name = "each " + name
			}
			names = append(names, name)
			m.work += len(packs) + len(name)
			m.bad = m.bad || m.work > maxWork
		}
		text = m.join(text, "<", m.list(names, ", "), ">")
	}
	m.push(node{kind: signature, text: text})
}

// generics pops a signature, if there is one.
func (m *machine) generics() string {
	if m.top() != signature {
		return ""
	}
	return m.pop(signature).text
}

// requirement reads the subject of a requirement, which can be an associated type and then is a
// substitution, and pops its constraint.
func (m *machine) requirement() {
	c := m.next()
	if strings.IndexByte("cCBtTSmMLpPQjJIbslihvV", c) < 0 {
		c = 'R' // a protocol requirement on a parameter has no letter
		m.at--
	}
	if strings.IndexByte("ijJI", c) >= 0 {
		m.index()
	}
	switch {
	case strings.IndexByte("BSLQI", c) >= 0: // a substitution
		m.pop(typ)
	case strings.IndexByte("ctmpjCTMPJ", c) >= 0: // an associated type, or a path of them
		base := m.parameter()
		m.remember(node{kind: typ, text: m.nested(base, m.associatedName(c < 'a'))})
	default:
		parameter := m.parameter()
		if c == 'v' { // a parameter pack
			m.push(node{kind: requirement, text: " " + parameter + " "})
			return
		}
	}
	switch c {
	case 'R', 'p', 'P', 'Q':
		m.protocol()
	case 'b', 'c', 'C', 'B', 's', 't', 'T', 'S', 'h', 'V':
		m.pop(typ)
	case 'l', 'm', 'M', 'L':
		switch m.next() {
		case 'E', 'M':
			m.index()
			m.index()
		case 'e', 'm':
			m.index()
		case 'U', 'R', 'N', 'C', 'D', 'T', 'B', 'S':
		default:
			m.bad = true
		}
	}
	m.push(node{kind: requirement})
}

// conformanceOperator reads the operators that start with "H": conformances in generic arguments.
func (m *machine) conformanceOperator(c byte) {
	switch c {
	case 'P', 'p':
		m.protocol()
		m.push(node{kind: module, flags: protocol})
	case 'C':
		if !m.popIf(emptyList) {
			for last := false; !last && !m.bad; m.pop(conformance) {
				last = m.popIf(firstOfList)
			}
		}
		if m.top() == module && m.stack[len(m.stack)-1].is(protocol) {
			m.pop(module)
		} else {
			m.context()
			m.protocol()
		}
		m.pop(typ)
		m.push(node{kind: conformance})
	case 'D':
		m.index()
		m.protocol()
		m.pop(typ)
		m.push(node{kind: conformance})
	case 'I':
		m.index()
		m.protocol()
		m.pop(conformance)
		m.push(node{kind: conformance})
	case 'A':
		m.index()
		m.protocol()
		m.pop(typ)
		m.pop(conformance)
		m.push(node{kind: conformance})
	default:
		m.bad = true
	}
}

// conformance pops the conformance of a type, and returns the text of the type.
func (m *machine) conformance() string {
	generics := m.generics()
	if generics != "" {
		generics += " "
	}
	if m.context().kind != module {
		m.bad = true
	}
	m.protocol()
	return m.join(generics, m.shown(m.pop(typ)))
}
