// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ErrNoClass is the error of a file without any class line: it is not a mapping.
var ErrNoClass = errors.New("ProGuard mapping: the file has no line of a class")

// Read reads a mapping file. It holds only the result in memory.
func Read(file io.Reader) (*Mapping, error) {
	r := reader{interner: newInterner()}
	for lines := bufio.NewReaderSize(file, maxLine); ; {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			r.unreadable++
			err = skipLine(lines)
		} else {
			r.line(bytes.TrimRight(line, "\r\n \t"))
		}
		if max(len(r.text), len(r.out), len(r.encoded)) > maxEncoded {
			return nil, fmt.Errorf("ProGuard mapping: needs more than %d bytes in memory", maxEncoded)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("ProGuard mapping: cannot read the file: %w", err)
		}
	}
	r.endClass()
	if len(r.classes) == 0 {
		return nil, ErrNoClass
	}
	return r.mapping(), nil
}

func skipLine(lines *bufio.Reader) error {
	for {
		if _, err := lines.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// reader has the class that is being read, and the encoded classes before it.
type reader struct {
	*interner
	classes    []class
	out        []byte
	unreadable int

	inClass   bool
	pending   member // the last member: its annotations follow
	name      ref    // the obfuscated name of pending
	annotates target
	spans     []span // the members of the class
	encoded   []byte
}

// target is the kind of line that annotations belong to.
type target uint8

const (
	nothing target = iota // fields, unreadable lines
	theClass
	theMember
)

// span is an encoded member.
type span struct {
	name     ref
	from, to uint32
}

// line reads a line. Indentation distinguishes members from classes; compilers use four spaces,
// other tools fewer or tabs.
func (r *reader) line(line []byte) {
	text := bytes.TrimLeft(line, " \t")
	switch {
	case len(text) == 0:
	case text[0] == '#':
		r.annotation(bytes.TrimLeft(text[1:], " \t"))
	case len(text) == len(line):
		r.class(line)
	default:
		r.member(text)
	}
}

// class reads "original -> obfuscated:".
func (r *reader) class(line []byte) {
	original, rest, arrow := bytes.Cut(line, []byte(" -> "))
	obfuscated, _, colon := bytes.Cut(rest, []byte(":"))
	r.endClass()
	if !arrow || !colon || !isName(original) || !isName(obfuscated) {
		r.unreadable++
		return
	}
	r.classes = append(r.classes, class{original: r.ref(original), obfuscated: r.ref(obfuscated), members: uint32(len(r.out))})
	r.inClass, r.annotates = true, theClass
}

// member reads "[from:to:]type [class.]name(parameters)[:from[:to]] -> obfuscated", or a field.
func (r *reader) member(text []byte) {
	r.endMember()
	if !r.inClass || len(r.spans) == maxClassMembers {
		r.unreadable++
		return
	}
	m, obfuscated, ok := r.parseMember(text)
	if !ok {
		r.unreadable++
		return
	}
	if obfuscated == nil { // a field
		return
	}
	r.pending, r.name, r.annotates = m, r.ref(obfuscated), theMember
}

// parseMember returns nil as the obfuscated name of a field.
func (r *reader) parseMember(text []byte) (m member, obfuscated []byte, ok bool) {
	from, rest, numbered := number(text)
	if numbered && len(rest) > 0 && rest[0] == ':' {
		m.lines, m.flags = lines{from, from}, hasLines
		text = rest[1:]
		if to, rest, ok := number(text); ok && len(rest) > 0 && rest[0] == ':' {
			m.lines.to, text = to, rest[1:]
		}
		m.lines = ordered(m.lines)
	}
	if len(text) == 0 || isDigit(text[0]) { // lines that are not numbers, or beyond maxNumber
		return m, nil, false
	}
	left, obfuscated, arrow := cutLast(text, " -> ")
	result, left, space := bytes.Cut(left, []byte(" "))
	if !arrow || !space || len(left) == 0 {
		return m, nil, false
	}
	name, left, isMethod := bytes.Cut(left, []byte("("))
	if !isMethod {
		return m, nil, true
	}
	parameters, left, closed := bytes.Cut(left, []byte(")"))
	if !closed || !isName(name) || !isName(obfuscated) || !m.parseOriginal(left) {
		return m, nil, false
	}
	if i := bytes.LastIndexByte(name, '.'); i > 0 {
		m.class, name = r.ref(name[:i]), name[i+1:]
		m.flags |= hasClass
	}
	m.name = r.ref(name)
	m.signature = r.ref([]byte(string(result) + " " + string(parameters)))
	return m, obfuscated, m.name != 0
}

// parseOriginal reads "[:from[:to]]".
func (m *member) parseOriginal(text []byte) (ok bool) {
	if len(text) == 0 {
		return true
	}
	from, text, ok := numberAfterColon(text)
	m.original, m.flags = lines{from, from}, m.flags|hasOriginal
	if !ok || len(text) == 0 {
		return ok
	}
	to, text, ok := numberAfterColon(text)
	m.original, m.flags = ordered(lines{from, to}), m.flags|hasOriginalEnd
	return ok && len(text) == 0
}

// ordered swaps the ends of an inverted range, which older compilers wrote.
func ordered(l lines) lines { return lines{min(l.from, l.to), max(l.from, l.to)} }

// number reads decimal digits.
func number(text []byte) (n uint32, rest []byte, ok bool) {
	var value uint64
	i := 0
	for ; i < len(text) && isDigit(text[i]); i++ {
		if value = 10*value + uint64(text[i]-'0'); value > maxNumber {
			return 0, text, false
		}
	}
	return uint32(value), text[i:], i > 0
}

func isName(text []byte) bool { return len(text) > 0 && len(text) <= maxName }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func numberAfterColon(text []byte) (n uint32, rest []byte, ok bool) {
	if text[0] != ':' {
		return 0, text, false
	}
	return number(text[1:])
}

func cutLast(text []byte, separator string) (before, after []byte, ok bool) {
	i := bytes.LastIndex(text, []byte(separator))
	if i < 0 {
		return text, nil, false
	}
	return text[:i], text[i+len(separator):], true
}

// endMember encodes the pending member.
func (r *reader) endMember() {
	if r.annotates == theMember {
		from := len(r.encoded)
		r.encoded = appendMember(r.encoded, &r.pending)
		r.spans = append(r.spans, span{r.name, uint32(from), uint32(len(r.encoded))})
	}
	r.annotates = nothing
}

// endClass writes the members of the class, by obfuscated name.
func (r *reader) endClass() {
	r.endMember()
	if !r.inClass {
		return
	}
	slices.SortStableFunc(r.spans, func(a, b span) int { return cmp.Compare(a.name, b.name) })
	for rest := r.spans; len(rest) > 0; {
		n, size := 0, uint64(0)
		for ; n < len(rest) && rest[n].name == rest[0].name; n++ {
			if n < maxMembers {
				size += uint64(rest[n].to - rest[n].from)
			}
		}
		r.out = binary.AppendUvarint(binary.AppendUvarint(r.out, uint64(rest[0].name)), size)
		for _, s := range rest[:min(n, maxMembers)] {
			r.out = append(r.out, r.encoded[s.from:s.to]...)
		}
		r.unreadable += max(n-maxMembers, 0)
		rest = rest[n:]
	}
	r.out = append(r.out, 0)
	r.spans, r.encoded, r.inClass = r.spans[:0], r.encoded[:0], false
}

// mapping sorts the classes.
func (r *reader) mapping() *Mapping {
	m := &Mapping{Unreadable: r.unreadable, strings: stringTable{slices.Clone(r.text)}, classes: slices.Clone(r.classes), members: slices.Clone(r.out)}
	slices.SortStableFunc(m.classes, func(a, b class) int {
		return strings.Compare(m.strings.get(a.obfuscated), m.strings.get(b.obfuscated))
	})
	for i, c := range m.classes {
		if c.file != 0 || c.synthesized {
			m.files = append(m.files, uint32(i))
		}
	}
	slices.SortFunc(m.files, func(a, b uint32) int { return cmp.Compare(m.classes[a].original, m.classes[b].original) })
	return m
}
