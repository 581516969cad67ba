// SPDX-License-Identifier: Apache-2.0

package swift

import (
	"strings"
)

// metadata are the functions of types, by the letter that follows "M".
var metadata = map[byte]string{'a': "type metadata accessor", 'b': "canonical specialized generic type metadata accessor",
	'i': "type metadata instantiation function", 'r': "type metadata completion function", 'u': "method lookup function", 'U': "ObjC metadata update function"}

// valueWitnesses follow "w".
var valueWitnesses = map[string]string{
	"al": "allocateBuffer", "ca": "assignWithCopy", "ta": "assignWithTake", "de": "deallocateBuffer", "xx": "destroy", "XX": "destroyBuffer",
	"Xx": "destroyArray", "CP": "initializeBufferWithCopyOfBuffer", "Cp": "initializeBufferWithCopy", "cp": "initializeWithCopy",
	"TK": "initializeBufferWithTakeOfBuffer", "Tk": "initializeBufferWithTake", "tk": "initializeWithTake", "pr": "projectBuffer",
	"xs": "storeExtraInhabitant", "xg": "getExtraInhabitantIndex", "Cc": "initializeArrayWithCopy", "Tt": "initializeArrayWithTakeFrontToBack",
	"tT": "initializeArrayWithTakeBackToFront", "ug": "getEnumTag", "up": "destructiveProjectEnumData", "ui": "destructiveInjectEnumTag",
	"et": "getEnumTagSinglePayload", "st": "storeEnumTagSinglePayload",
}

// outlined follow "WO".
var outlined = map[byte]string{'y': "copy", 'e': "consume", 'r': "retain", 's': "release", 'b': "init with take", 'c': "init with copy",
	'd': "assign with take", 'f': "assign with copy", 'h': "destroy", 'B': "init with take", 'C': "init with copy", 'D': "assign with take",
	'F': "assign with copy", 'H': "destroy", 'g': "enum get tag", 'i': "enum tag store", 'j': "enum project data"}

// thunkOperator executes the operators of functions that the compiler makes.
func (m *machine) thunkOperator(c byte) {
	switch c {
	case 'M':
		m.forType(metadata[m.next()], " for ")
	case 'T':
		m.thunk(m.next())
	case 'W':
		m.witness(m.next())
	case 'w':
		m.forType(valueWitnesses[string([]byte{m.next(), m.next()})], " for ")
	default:
		m.bad = true
	}
}

// forType pushes a function of a type. An empty description is that of an unknown one.
func (m *machine) forType(description, preposition string) {
	m.bad = m.bad || description == ""
	m.pushEntity(m.join(description, preposition, m.shown(m.pop(typ))))
}

// witness reads the operators that start with "W": functions of conformances.
func (m *machine) witness(c byte) {
	switch c {
	case 'I':
		m.pushEntity(m.join("instantiation function for generic protocol witness table for ", m.conformance()))
	case 'O':
		c := m.next()
		generics := m.generics()
		if c != 'y' && c != 'e' { // only these show generics
			generics = ""
		}
		if c == 'i' || c == 'j' {
			m.index()
		}
		m.bad = m.bad || outlined[c] == ""
		m.pushEntity(m.join("outlined ", outlined[c], " of ", m.shown(m.pop(typ)), generics))
	case 'T':
		protocol := m.shown(m.protocol())
		path := m.associatedName(true)
		m.pushEntity(m.join("associated type witness table accessor for ", path, " : ", protocol, " in ", m.conformance()))
	case 'Z':
		m.pop(firstOfList)
		name := m.declName().text
		m.context()
		m.pushEntity(m.join("one-time initialization function for ", name))
	case 'b':
		protocol := m.shown(m.protocol())
		m.pushEntity(m.join("base witness table accessor for ", protocol, " in ", m.conformance()))
	case 'l':
		conformance := m.conformance()
		m.pushEntity(m.join("lazy protocol witness table accessor for type ", m.shown(m.pop(typ)), " and conformance ", conformance))
	default:
		m.bad = true
	}
}

// prefixes are thunks and variants of a function, by the letter that follows "T".
var prefixes = map[byte]string{'A': "partial apply for ", 'D': "dynamic ", 'E': "", 'F': "",
	'O': "@nonobjc ", 'a': "partial apply for ", 'j': "dispatch thunk of ", 'o': "@objc ", 'u': "async function pointer to ", 'm': ""}

// thunk reads the operators that start with "T".
func (m *machine) thunk(c byte) {
	if prefix, ok := prefixes[c]; ok {
		m.prefix = m.join(prefix, m.prefix)
		return
	}
	switch c {
	case 'B', 'G', 'g', 's', 't':
		for ; c == 't'; c = m.next() { // a dropped argument
			for d := m.peek(); d >= '0' && d <= '9'; d = m.peek() {
				m.at++
			}
		}
		m.bad = m.bad || strings.IndexByte("BGgs", c) < 0
		m.specialization()
		for m.popIf(retroactive) {
		}
		m.types()
	case 'P', 'p': // of some generic parameters
		m.specialization()
		m.pop(typ)
	case 'f':
		m.specialization()
		m.specializedArguments()
	case 'K', 'k':
		m.keyPath(c)
	case 'Q', 'Y': // parts of an async function
		m.index()
	case 'R':
		m.popIf(signature)
		m.pop(typ)
		m.pop(typ)
		m.pushEntity("thunk")
	case 'V':
		base := m.pop(entity).text
		m.pushEntity(m.join("vtable thunk for ", base, " dispatching to ", m.pop(entity).text))
	case 'W':
		witness := m.pop(entity).text
		m.pushEntity(m.join("protocol witness for ", witness, " in conformance ", m.conformance()))
	case 'c':
		m.pushEntity(m.join("curry thunk of ", m.pop(entity).text))
	case 'w':
		m.bad = m.next() != 'b' || m.bad // a back deployment thunk
	default:
		m.bad = true
	}
}

// specialization reads the properties of a specialization. The name states only that there is one.
func (m *machine) specialization() {
	for _, c := range []byte("mqa") {
		m.accept(c)
	}
	pass := m.next()
	m.bad = m.bad || pass < '0' || pass > '9'
	m.accept('r')
	if !m.specialized {
		m.specialized = true
		m.prefix = m.join("specialized ", m.prefix)
	}
}

// specializedArguments reads the kinds of arguments, and pops their values: the last one is on top.
func (m *machine) specializedArguments() {
	var values []byte // 'c' is a closure: types and a name; 'n' a name; 'k' a key path: a name and two types
	for result := false; !m.bad; {
		if m.accept('_') {
			result = true
		}
		switch c := m.next(); c {
		case 'c', 'E':
			values = append(values, 'c')
		case 'C':
			m.number()
		case 'p':
			switch m.next() {
			case 'f', 'g':
				values = append(values, 'n')
			case 'd', 'i':
				m.number()
			case 's':
				m.next()
				values = append(values, 'n')
			case 'k':
				values = append(values, 'k')
			default:
				m.bad = true
			}
		case 'e', 'd', 'g', 'o':
			for _, option := range []byte("DGOX") {
				m.accept(option)
			}
		case 'n', 'x', 'i', 's', 'r':
		default:
			m.bad = true
		}
		if result {
			break
		}
	}
	for i := len(values) - 1; i >= 0 && !m.bad; i-- {
		if values[i] != 'n' {
			for m.popIf(typ) {
			}
		}
		m.pop(identifier)
	}
}

// keyPath pops the accessor's types and its variable.
func (m *machine) keyPath(c byte) {
	var types []string
	for m.top() == typ {
		types = append(types, m.shown(m.pop(typ)))
	}
	generics := m.generics()
	description, suffix := "key path getter for ", ""
	if c == 'k' {
		description = "key path setter for "
	}
	if m.accept('q') {
		suffix = ", serialized"
	}
	variable := m.pop(entity).text
	m.bad = m.bad || len(types) == 0
	m.pushEntity(m.join(description, variable, " : ", generics, m.join(reversed(types)...), suffix))
}
