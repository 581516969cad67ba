// SPDX-License-Identifier: Apache-2.0

package proguard

import "strings"

// maxDescriptor bounds the descriptor of a method. The JVM permits 255 parameters.
const maxDescriptor = 16 << 10

// Signature is the descriptor of a method in the obfuscated program, with the types of the original
// one.
type Signature struct {
	descriptor string
	parameters string // after a space, as in the signatures of a mapping
	whole      string // with the result before it; empty if the descriptor is none
}

// Signature reads a JVM descriptor. It returns nil if nothing is known.
func (m *Mapping) Signature(descriptor string) *Signature {
	if descriptor == "" || len(descriptor) > maxDescriptor {
		return nil
	}
	s := &Signature{descriptor: descriptor}
	if parameters, result, ok := m.original(descriptor); ok {
		s.parameters = " " + parameters
		s.whole = result + s.parameters
	}
	return s
}

// withSignature returns the elements whose function, the last member, has a signature; all elements
// if none has it.
func withSignature[T any](m *Mapping, list []T, function func(T) member, s *Signature) []T {
	residual := filtered(list, func(x T) bool {
		r := function(x).residual
		return r != 0 && m.strings.Get(r) == s.descriptor
	})
	if len(residual) > 0 {
		return residual
	}
	if s.whole == "" {
		return list
	}
	signature := func(x T) string { return m.strings.Get(function(x).signature) }
	list = preferred(list, func(x T) bool { return strings.HasSuffix(signature(x), s.parameters) })
	return preferred(list, func(x T) bool { return signature(x) == s.whole })
}

// original returns the types of a descriptor as a mapping writes them, with original classes.
func (m *Mapping) original(descriptor string) (parameters, result string, ok bool) {
	rest, open := strings.CutPrefix(descriptor, "(")
	var b strings.Builder
	for open && rest != "" && rest[0] != ')' {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		var one string
		if one, rest, ok = m.javaType(rest); !ok {
			return "", "", false
		}
		b.WriteString(one)
	}
	rest, closed := strings.CutPrefix(rest, ")")
	result, rest, ok = m.javaType(rest)
	return b.String(), result, open && closed && ok && rest == ""
}

var primitives = map[byte]string{'Z': "boolean", 'B': "byte", 'C': "char", 'S': "short", 'I': "int", 'J': "long", 'F': "float", 'D': "double", 'V': "void"}

// javaType reads a type of a descriptor.
func (m *Mapping) javaType(descriptor string) (name, rest string, ok bool) {
	element := strings.TrimLeft(descriptor, "[")
	dimensions := len(descriptor) - len(element)
	if dimensions > maxDimensions || element == "" {
		return "", "", false
	}
	if name, ok = primitives[element[0]]; ok {
		rest = element[1:]
	} else if element[0] == 'L' {
		name, rest, ok = strings.Cut(element[1:], ";")
		name = strings.ReplaceAll(name, "/", ".")
		if original, known := m.Class(name); known {
			name = original
		}
	}
	return name + strings.Repeat("[]", dimensions), rest, ok
}

// maxDimensions is the limit of the JVM.
const maxDimensions = 255
