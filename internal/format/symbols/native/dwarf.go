// SPDX-License-Identifier: Apache-2.0

package native

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"path"
)

// indexDWARF adds the compilation units of DWARF.
func indexDWARF(b *builder, in *input, summary *Summary, section func(name string) ([]byte, error)) error {
	content := map[string][]byte{}
	for _, name := range []string{"abbrev", "info", "str", "line", "ranges", "line_str", "str_offsets", "addr", "rnglists"} {
		s, err := section(".debug_" + name)
		if err != nil {
			return err
		}
		content[name] = s
	}
	if len(content["info"]) == 0 {
		return nil
	}
	data, err := dwarf.New(content["abbrev"], nil, nil, content["info"], content["line"], nil, content["ranges"], content["str"])
	for _, name := range []string{"line_str", "str_offsets", "addr", "rnglists"} {
		if err == nil && len(content[name]) > 0 {
			err = data.AddSection(".debug_"+name, content[name])
		}
	}
	if err != nil {
		return fmt.Errorf("%w: DWARF: %w", ErrDamaged, err)
	}
	r := dwarfReader{b: b, data: data, entries: data.Reader(), origins: data.Reader()}
	released := dwarf.Offset(0)
	for {
		entry, err := r.entries.Next()
		if err != nil {
			return fmt.Errorf("%w: DWARF: %w", ErrDamaged, err)
		}
		if entry == nil {
			return nil
		}
		if entry.Tag != dwarf.TagCompileUnit {
			r.entries.SkipChildren()
			continue
		}
		if err := r.readUnit(entry); err != nil {
			if errors.Is(err, ErrTooLarge) {
				return err
			}
			summary.note(fmt.Errorf("%w: DWARF: %w", ErrDamaged, err))
		}
		if err := b.add(&r.unit); err != nil {
			return err
		}
		summary.Units++
		if entry.Offset-released > releaseEvery {
			released = entry.Offset
			in.release()
		}
	}
}

// dwarfReader reads one compilation unit at a time.
type dwarfReader struct {
	b                *builder
	data             *dwarf.Data
	entries, origins *dwarf.Reader
	unit             unit
	files            []ref
	names            map[dwarf.Offset]originName
}

func (r *dwarfReader) readUnit(entry *dwarf.Entry) error {
	r.unit.reset()
	r.files, r.names = r.files[:0], map[dwarf.Offset]originName{}
	lineErr := r.readLines(entry)
	if !entry.Children {
		return lineErr
	}
	return errors.Join(lineErr, r.readFunctions())
}

// readLines reads the line rows and the names of the files.
func (r *dwarfReader) readLines(entry *dwarf.Entry) error {
	lines, err := r.data.LineReader(entry)
	if lines == nil || err != nil {
		return err
	}
	directory, _ := entry.Val(dwarf.AttrCompDir).(string)
	known := map[*dwarf.LineFile]ref{}
	file := func(f *dwarf.LineFile) ref {
		if f == nil {
			return 0
		}
		at, ok := known[f]
		if !ok {
			at = r.b.ref(absolute(directory, f.Name))
			known[f] = at
		}
		return at
	}
	var row dwarf.LineEntry
	usable := true // a sequence of removed code starts at an address without code
	first := true
	for err = lines.Next(&row); err == nil; err = lines.Next(&row) {
		if first {
			usable = r.b.isCode(row.Address)
		}
		first = row.EndSequence
		switch {
		case !usable:
		case row.EndSequence:
			r.unit.lines = append(r.unit.lines, lineRow{address: row.Address})
		default:
			r.unit.lines = append(r.unit.lines, lineRow{row.Address, file(row.File), uint32(max(row.Line, 0))})
		}
		if len(r.unit.lines) > maxUnit {
			return ErrTooLarge
		}
	}
	for _, f := range lines.Files() {
		if len(r.files) > maxUnit {
			return ErrTooLarge
		}
		r.files = append(r.files, file(f))
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// absolute joins the path of a file with the directory of the compiler: the standard library does this only for some versions of DWARF.
func absolute(directory, file string) string {
	if directory == "" || path.IsAbs(file) || len(file) > 1 && file[1] == ':' {
		return file
	}
	return path.Join(directory, file)
}

// readFunctions reads the functions of the unit, and those inlined into them, up to the end of its children.
func (r *dwarfReader) readFunctions() error {
	// scopes has the function of each open entry; -1 is outside of functions.
	scopes, depths := []int32{-1}, []int32{-1}
	for len(scopes) > 0 {
		entry, err := r.entries.Next()
		if err != nil {
			return err
		}
		if entry == nil {
			return io.ErrUnexpectedEOF
		}
		if entry.Tag == 0 {
			scopes, depths = scopes[:len(scopes)-1], depths[:len(depths)-1]
			continue
		}
		scope, depth := scopes[len(scopes)-1], depths[len(depths)-1]
		switch entry.Tag {
		case dwarf.TagSubprogram:
			scope, depth = -1, -1
			if scope, err = r.function(entry, -1, 0); err != nil {
				return err
			}
			if scope >= 0 {
				depth = 0
			}
		case dwarf.TagInlinedSubroutine:
			if scope >= 0 {
				if scope, err = r.function(entry, scope, depth+1); err != nil {
					return err
				}
				depth++
			}
		}
		if entry.Children {
			if len(scopes) > maxDepth {
				return ErrDamaged
			}
			scopes, depths = append(scopes, scope), append(depths, depth)
		}
	}
	return nil
}

// function adds a function with code. For a function without code, it returns the parent, which is -1 outside of functions.
func (r *dwarfReader) function(entry *dwarf.Entry, parent, depth int32) (index int32, err error) {
	ranges, err := r.data.Ranges(entry)
	if err != nil || len(ranges) == 0 {
		return parent, nil // a declaration, or damaged: the parent keeps its lines
	}
	name, linkage, err := r.name(entry, 0)
	if err != nil {
		return -1, err
	}
	if symbol, ok := r.b.symbolAt(ranges[0][0]); ok && !linkage && depth == 0 {
		name = symbol // compilers omit the linkage name of functions with internal linkage
	}
	f := function{name: name, parent: parent}
	if parent >= 0 {
		if at, ok := entry.Val(dwarf.AttrCallFile).(int64); ok && at >= 0 && at < int64(len(r.files)) {
			f.callFile = r.files[at]
		}
		if line, ok := entry.Val(dwarf.AttrCallLine).(int64); ok && line > 0 && line < 1<<31 {
			f.callLine = uint32(line)
		}
	}
	index = int32(len(r.unit.functions))
	r.unit.functions = append(r.unit.functions, f)
	for _, x := range ranges {
		r.unit.spans = append(r.unit.spans, span{x[0], x[1], index, depth})
	}
	if r.unit.tooLarge() {
		return -1, ErrTooLarge
	}
	return index, nil
}

// maxOrigins bounds the references between declaration, abstract and concrete function. They can form a loop.
const maxOrigins = 8

// name returns the linkage name of a function, else its name.
func (r *dwarfReader) name(entry *dwarf.Entry, hops int) (name ref, linkage bool, err error) {
	for _, attribute := range []dwarf.Attr{dwarf.AttrLinkageName, attrMIPSLinkageName} {
		if name, ok := entry.Val(attribute).(string); ok && name != "" {
			return r.b.ref(name), true, nil
		}
	}
	for _, attribute := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		at, ok := entry.Val(attribute).(dwarf.Offset)
		if !ok || hops == maxOrigins {
			continue
		}
		found, known := r.names[at]
		if !known {
			r.origins.Seek(at)
			origin, err := r.origins.Next()
			if err != nil {
				return 0, false, err
			}
			if origin != nil {
				if found.ref, found.linkage, err = r.name(origin, hops+1); err != nil {
					return 0, false, err
				}
			}
			r.names[at] = found
		}
		if found.ref != 0 {
			return found.ref, found.linkage, nil
		}
	}
	text, _ := entry.Val(dwarf.AttrName).(string)
	return r.b.ref(text), false, nil
}

// originName is the name of an origin.
type originName struct {
	ref
	linkage bool
}

// attrMIPSLinkageName is the linkage name before DWARF 4.
const attrMIPSLinkageName dwarf.Attr = 0x2007
