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
	"math/bits"
	"slices"
	"strings"
	"unsafe"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// ErrNoClass is the error of a file without any class line: it is not a mapping.
var ErrNoClass = errors.New("ProGuard mapping: the file has no line of a class")

// Limits are the work and the memory of reading a mapping, per byte of the file. The mappings of
// real apps need a quarter of the file, and twice of that while lists grow.
var Limits = symbols.Limits{Steps: 32, Memory: 4}

// Read reads a mapping file, within the limits of the work. It holds only the result in memory.
func Read(work *symbols.Work, file io.Reader) (*Mapping, error) {
	r := reader{Interner: symbols.NewInterner(nil), work: work, large: map[uint32]*largeMethod{}}
	for lines := bufio.NewReaderSize(file, maxLine); ; {
		line, err := lines.ReadSlice('\n')
		if failure := r.account(len(line)); failure != nil {
			return nil, fmt.Errorf("ProGuard mapping: %w", failure)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			r.unreadable++
			err = skipLine(lines)
		} else {
			r.line(bytes.TrimRight(line, "\r\n \t"))
		}
		if max(len(r.Text), len(r.out), len(r.encoded)) > maxEncoded {
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
	if err := r.account(0); err != nil {
		return nil, fmt.Errorf("ProGuard mapping: %w", err)
	}
	return r.mapping()
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
	*symbols.Interner
	work    *symbols.Work
	claimed int64

	classes    []class
	methods    []method
	pairs      []pair
	rules      []rewrite
	large      map[uint32]*largeMethod
	largeBytes int64
	out        []byte
	unreadable int

	inClass      bool
	pending      member // the last member: its annotations follow
	pendingRules []rewrite
	name         ref // the obfuscated name of pending
	annotates    target
	spans        []encodedMember // of the class
	annotated    bool            // some of them have annotations to spread
	encoded      []byte
}

type ref = symbols.Ref

// ref returns the place of a string, which is copied if it is new.
func (r *reader) ref(s []byte) ref { return r.Intern(unsafe.String(unsafe.SliceData(s), len(s))) }

// target is the kind of line that annotations belong to.
type target uint8

const (
	nothing target = iota // fields, unreadable lines
	theClass
	theMember
)

type encodedMember struct {
	name ref
	span // in reader.encoded
}

// account counts the work for a line, and claims memory before the line needs it: lists grow to
// twice their size, and an element needs less than the text of its line, apart from a constant.
func (r *reader) account(line int) error {
	if err := r.work.Step(2 * line); err != nil {
		return err
	}
	lists := int64(len(r.Text)) + int64(len(r.out)) + int64(len(r.encoded)) + lengthOf(r.classes) + lengthOf(r.methods) + lengthOf(r.pairs) + lengthOf(r.rules) + lengthOf(r.spans)
	needed := 2*(lists+int64(line)) + 3*r.TableBytes() + r.largeBytes
	if needed <= r.claimed {
		return nil
	}
	more := needed - r.claimed + claimAtOnce
	r.claimed += more
	return r.work.Claim(more)
}

// claimAtOnce is claimed in advance, so that most lines claim nothing.
const claimAtOnce = 64 << 10

func lengthOf[T any](list []T) int64 { return int64(len(list)) * int64(unsafe.Sizeof(*new(T))) }

// appendSpan appends elements to a list of the mapping.
func appendSpan[T any](list *[]T, elements []T) span {
	from := len(*list)
	*list = append(*list, elements...)
	return span{uint32(from), uint32(len(*list))}
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
	r.classes = append(r.classes, class{original: r.ref(original), obfuscated: r.ref(obfuscated)})
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
		if len(r.pendingRules) > 0 {
			slices.SortStableFunc(r.pendingRules, func(a, b rewrite) int { return strings.Compare(r.Get(a.throws), r.Get(b.throws)) })
			r.pending.rewrites = appendSpan(&r.rules, r.pendingRules) // of several for an exception, the first one counts
			r.pending.flags |= hasRewrites
		}
		r.annotated = r.annotated || r.pending.flags&(isSynthesized|hasResidual) != 0
		from := len(r.encoded)
		r.encoded = appendMember(r.encoded, &r.pending)
		r.spans = append(r.spans, encodedMember{r.name, span{uint32(from), uint32(len(r.encoded))}})
	}
	r.annotates, r.pendingRules = nothing, r.pendingRules[:0]
}

// endClass writes the members of the class, by obfuscated name.
func (r *reader) endClass() {
	r.endMember()
	if !r.inClass {
		return
	}
	r.inClass = false
	c := &r.classes[len(r.classes)-1]
	c.methods.from = uint32(len(r.methods))
	slices.SortStableFunc(r.spans, func(a, b encodedMember) int { return cmp.Compare(a.name, b.name) })
	for rest := r.spans; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].name == rest[0].name {
			n++
		}
		r.unreadable += max(n-maxMembers, 0)
		r.endMethod(*c, rest[:min(n, maxMembers)])
		rest = rest[n:]
	}
	c.methods.to = uint32(len(r.methods))
	methods := r.methods[c.methods.from:]
	slices.SortFunc(methods, func(a, b method) int { return strings.Compare(r.Get(a.name), r.Get(b.name)) })
	r.spans, r.encoded, r.annotated = r.spans[:0], r.encoded[:0], false
}

// endMethod writes the members of a method.
func (r *reader) endMethod(c class, encoded []encodedMember) {
	start := len(r.out)
	r.methods = append(r.methods, method{encoded[0].name, uint32(start)})
	r.out = binary.AppendUvarint(r.out, uint64(len(encoded)))
	if !r.annotated && len(encoded) <= smallMethod {
		for _, e := range encoded {
			r.out = append(r.out, r.encoded[e.from:e.to]...)
		}
		return
	}
	members, at := make([]member, len(encoded)), make([]uint32, len(encoded))
	for i, e := range encoded {
		rest := cursor(r.encoded[e.from:e.to])
		members[i] = rest.member()
	}
	spreadAnnotations(members)
	for i := range members {
		at[i] = uint32(len(r.out))
		r.out = appendMember(r.out, &members[i])
	}
	if len(members) > smallMethod {
		l := newLargeMethod(c, members, at)
		r.large[uint32(start)] = l
		r.largeBytes += l.bytes()
	}
}

// mapping sorts the classes.
func (r *reader) mapping() (*Mapping, error) {
	m := &Mapping{
		Unreadable: r.unreadable, strings: symbols.Strings{Text: slices.Clone(r.Text)}, classes: slices.Clone(r.classes), members: slices.Clone(r.out),
		methods: slices.Clone(r.methods), pairs: slices.Clone(r.pairs), rules: slices.Clone(r.rules), large: r.large,
	}
	if err := r.work.Step(len(m.classes) * bits.Len(uint(len(m.classes)))); err != nil {
		return nil, err
	}
	slices.SortStableFunc(m.classes, func(a, b class) int {
		return strings.Compare(m.strings.Get(a.obfuscated), m.strings.Get(b.obfuscated))
	})
	for i, c := range m.classes {
		if c.file != 0 || c.synthesized {
			m.files = append(m.files, uint32(i))
		}
	}
	slices.SortFunc(m.files, func(a, b uint32) int { return cmp.Compare(m.classes[a].original, m.classes[b].original) })
	return m, nil
}
