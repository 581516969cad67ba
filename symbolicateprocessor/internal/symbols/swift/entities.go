// SPDX-License-Identifier: Apache-2.0

package swift

import (
	"strconv"
	"strings"
)

// context pops the declaration that encloses another.
func (m *machine) context() node {
	switch m.top() {
	case identifier:
		m.pop(identifier)
		return node{kind: module}
	case module, entity:
		return m.pop(m.top())
	case typ:
		t := m.pop(typ)
		m.bad = m.bad || !t.is(nominal)
		return t
	}
	m.bad = true
	return node{}
}

// member returns the qualified name: "Type.name" or "name in function()".
func (m *machine) member(context, name node) node {
	n := node{kind: entity, text: name.text, flags: phrase}
	if !name.is(local) && !context.is(phrase) {
		n.flags = 0
	}
	switch {
	case context.kind == module:
	case n.is(phrase):
		n.text = m.join(name.text, " in ", m.shown(context))
	default:
		n.text = m.join(m.shown(context), ".", name.text)
	}
	return n
}

func (m *machine) pushEntity(text string) {
	m.push(node{kind: entity, text: text, flags: phrase})
}

// of pushes an entity that has no name of its own.
func (m *machine) of(description, preposition string) {
	context := m.context()
	if context.kind != module {
		description = m.join(description, preposition, m.shown(context))
	}
	m.pushEntity(description)
}

// entityOperator executes the operators of functions and variables.
func (m *machine) entityOperator(c byte) {
	switch c {
	case 'E': // an extension
		generics := m.generics()
		if m.context().kind != module {
			m.bad = true
		}
		t := m.pop(typ)
		t.text = m.join(m.shown(t), generics)
		t.flags = t.flags&phrase | nominal | extended
		m.push(t)
	case 'F':
		generics := m.generics()
		f := m.functionType()
		labels := m.labels(f)
		name := m.declName()
		if name.is(local) {
			name.text += " "
		}
		m.pushFunction(m.context(), name, generics, labels)
	case 'Z':
		m.pushEntity(m.join("static ", m.pop(entity).text))
	case 'f':
		m.functionOperator(m.next())
	case 'i':
		m.popIf(privateName)
		f := m.pop(typ)
		labels := m.labels(f)
		name := "subscript"
		if m.peek() == 'p' { // the subscript itself
			name = m.join(name, f.generics, "(", labels, ")")
		}
		m.pushAccessor(m.context(), node{text: name})
	case 'v':
		m.labels(m.pop(typ))
		name := m.declName()
		m.pushAccessor(m.context(), name)
	}
}

func (m *machine) pushFunction(context, name node, generics, labels string) {
	if name.is(symbolic) {
		name.text = m.join(name.text, generics)
	} else {
		name.text = m.join(name.text, generics, "(", labels, ")")
	}
	m.pushEntity(m.member(context, name).text)
}

// labels pops the labels of parameters. A list without labels is an empty list.
func (m *machine) labels(f node) string {
	switch {
	case m.old:
		return f.labels
	case m.popIf(emptyList):
		return strings.Repeat("_:", f.count)
	case !f.is(function):
		return ""
	}
	var labels []string
	for i := 0; i < f.count && !m.bad; i++ {
		label := "_:"
		if !m.popIf(firstOfList) {
			label = m.pop(identifier).text + ":"
		}
		labels = append(labels, label)
	}
	return m.join(reversed(labels)...)
}

var accessors = map[byte]string{'G': "getter", 'M': "modify", 'W': "didset", 'g': "getter", 'i': "init", 'm': "materializeForSet", 'r': "read",
	's': "setter", 'w': "willset", 'x': "modify2", 'y': "read2"}

var addressors = map[string]string{"au": "unsafeMutableAddressor", "lu": "unsafeAddressor"}

// pushAccessor reads the kind of the accessor of a variable or subscript.
func (m *machine) pushAccessor(context, name node) {
	accessor, c := "", m.next()
	switch c {
	case 'p':
	case 'a', 'l':
		accessor = addressors[string([]byte{c, m.next()})]
		m.bad = m.bad || accessor == ""
	default:
		accessor = accessors[c]
		m.bad = m.bad || accessor == ""
	}
	switch {
	case accessor == "":
	case name.is(local):
		name.text = m.join(accessor, " of ", name.text)
	default:
		name.text = m.join(name.text, ".", accessor)
	}
	m.pushEntity(m.member(context, name).text)
}

// functionOperator reads the operators that start with "f".
func (m *machine) functionOperator(c byte) {
	switch c {
	case 'C', 'c':
		m.popIf(privateName)
		f := m.pop(typ)
		labels := m.labels(f)
		context := m.context()
		name := "init"
		if c == 'C' && context.is(class) {
			name = "__allocating_init"
		}
		m.pushFunction(context, node{text: name}, f.generics, labels)
	case 'D', 'E', 'Z', 'd', 'e':
		names := map[byte]string{'D': "__deallocating_deinit", 'E': "__ivar_destroyer", 'Z': "__isolated_deallocating_deinit", 'd': "deinit", 'e': "__ivar_initializer"}
		m.pushEntity(m.member(m.context(), node{text: names[c]}).text)
	case 'A':
		m.of("default argument "+strconv.Itoa(m.index()), " of ")
	case 'P':
		m.of("property wrapper backing initializer", " of ")
	case 'W':
		m.of("property wrapper init from projected value", " of ")
	case 'i':
		m.of("variable initialization expression", " of ")
	case 'U', 'u':
		description := map[byte]string{'U': "closure #", 'u': "implicit closure #"}[c] + strconv.Itoa(m.index()+1)
		m.pop(typ)
		m.of(description, " in ")
	default:
		m.bad = true
	}
}
