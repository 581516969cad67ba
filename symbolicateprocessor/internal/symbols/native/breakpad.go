// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// indexBreakpad reads the text that Breakpad's dump_syms writes. A function and its lines are a
// unit.
func indexBreakpad(b *builder, in *input, summary *Summary) error {
	r := breakpadReader{b: b, files: map[uint64]ref{}, origins: map[uint64]ref{}}
	read := 0 // since the last release
	lines := bufio.NewReaderSize(io.NewSectionReader(in.file, 0, in.size), maxTextLine)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			summary.note(ErrTooLarge)
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = lines.ReadSlice('\n')
			}
			line = nil
		}
		if read += len(line); read > releaseEvery {
			read = 0
			in.release()
		}
		if failure := r.line(bytes.TrimRight(line, "\r\n")); failure != nil {
			return failure
		}
		if b.step(len(line) / bytesPerStep); len(r.files)+len(r.origins) > maxUnit {
			return ErrTooLarge
		}
		if errors.Is(err, io.EOF) {
			summary.Units = r.functions
			if r.unreadable > 0 {
				summary.note(ErrDamaged)
			}
			return r.endFunction()
		}
		if err != nil {
			return err
		}
	}
}

type breakpadReader struct {
	b                     *builder
	unit                  unit
	files, origins        map[uint64]ref
	open                  []int32 // the function at each depth
	functions, unreadable int
}

// line reads a record. Records of an unknown kind are for other uses: STACK, INFO.
func (r *breakpadReader) line(line []byte) error {
	kind, rest, _ := bytes.Cut(line, []byte(" "))
	ok := true
	switch string(kind) {
	case "", "MODULE", "STACK", "INFO":
	case "FILE":
		ok = r.named(r.files, rest)
	case "INLINE_ORIGIN":
		ok = r.named(r.origins, rest)
	case "FUNC":
		if err := r.endFunction(); err != nil {
			return err
		}
		ok = r.function(rest)
	case "PUBLIC":
		n, name, valid := numbers(withoutFlag(rest), 16, 16)
		if ok = valid; ok {
			return r.b.addSymbol(string(name), n[0], 0)
		}
	case "INLINE":
		ok = r.inline(rest)
	default:
		ok = r.row(line)
	}
	if !ok {
		r.unreadable++
	}
	return r.b.check(&r.unit)
}

// named reads "number name".
func (r *breakpadReader) named(names map[uint64]ref, text []byte) bool {
	n, name, ok := numbers(text, 10)
	if ok {
		names[n[0]] = r.b.ref(string(name))
	}
	return ok
}

// function reads "[m] address size parameters name".
func (r *breakpadReader) function(text []byte) bool {
	n, name, ok := numbers(withoutFlag(text), 16, 16, 16)
	if !ok {
		return false
	}
	r.functions++
	r.unit.functions = append(r.unit.functions, function{name: r.b.ref(string(name)), parent: -1})
	r.unit.spans = append(r.unit.spans, span{n[0], n[0] + n[1], 0, 0})
	r.unit.lines = append(r.unit.lines, lineRow{address: n[0]})
	r.open = append(r.open[:0], 0)
	return true
}

// row reads "address size line file".
func (r *breakpadReader) row(text []byte) bool {
	n, _, ok := numbers(text, 16, 16, 10, 10)
	if !ok || len(r.unit.functions) == 0 {
		return false
	}
	r.unit.lines = append(r.unit.lines, lineRow{n[0], r.files[n[3]], uint32(min(n[2], 1<<31))}, lineRow{address: n[0] + n[1]})
	return true
}

// inline reads "depth line file origin (address size)...". A function of depth 0 is inlined into
// that of FUNC.
func (r *breakpadReader) inline(text []byte) bool {
	n, rest, ok := numbers(text, 10, 10, 10, 10)
	if !ok || n[0]+1 > uint64(len(r.open)) || n[0] >= maxDepth {
		return false
	}
	depth := int32(n[0]) + 1
	index := int32(len(r.unit.functions))
	r.unit.functions = append(r.unit.functions, function{name: r.origins[n[3]], parent: r.open[depth-1], callFile: r.files[n[2]], callLine: uint32(min(n[1], 1<<31))})
	r.open = append(r.open[:depth], index)
	for len(rest) > 0 {
		if n, rest, ok = numbers(rest, 16, 16); !ok {
			return false
		}
		r.unit.spans = append(r.unit.spans, span{n[0], n[0] + n[1], index, depth})
	}
	return true
}

// endFunction adds the function.
func (r *breakpadReader) endFunction() error {
	if len(r.unit.functions) == 0 {
		return nil
	}
	err := r.b.add(&r.unit)
	r.unit.reset()
	return err
}

func withoutFlag(text []byte) []byte { return bytes.TrimPrefix(text, []byte("m ")) }

// numbers reads numbers of the given bases, and returns the text after them.
func numbers(text []byte, bases ...int) (n [4]uint64, rest []byte, ok bool) {
	for i, base := range bases {
		word, after, _ := bytes.Cut(text, []byte(" "))
		value, err := strconv.ParseUint(string(word), base, 64)
		if err != nil {
			return n, text, false
		}
		n[i], text = value, after
	}
	return n, text, true
}
