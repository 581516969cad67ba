// SPDX-License-Identifier: Apache-2.0

package native

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
)

// indexDWARF adds the compilation units of DWARF.
func indexDWARF(b *builder, in *input, order binary.ByteOrder, summary *Summary, section func(name string) ([]byte, error)) error {
	sections := dwarfSections{}
	for _, name := range []string{"abbrev", "info", "str", "line", "ranges", "line_str", "str_offsets", "addr", "rnglists"} {
		s, err := section(".debug_" + name)
		if err != nil {
			return err
		}
		sections[name] = s
	}
	if len(sections["info"]) == 0 {
		return nil
	}
	units, err := sections.check(b, order)
	if err != nil {
		return err
	}
	data, err := dwarf.New(sections["abbrev"], nil, nil, sections["info"], nil, nil, nil, sections["str"])
	for _, name := range []string{"line_str", "str_offsets", "addr", "rnglists"} {
		if err == nil && len(sections[name]) > 0 {
			err = data.AddSection(".debug_"+name, sections[name])
		}
	}
	if err != nil {
		return fmt.Errorf("%w: DWARF: %w", ErrDamaged, err)
	}
	r := dwarfReader{
		b: b, sections: sections, order: order, entries: data.Reader(), origins: data.Reader(),
		lineBytes: newShared(maxShared, sections["line"]), rangeBytes: newShared(maxShared, sections["ranges"], sections["rnglists"]),
		textBytes: newShared(maxTextShared, sections["info"]),
	}
	released := dwarf.Offset(0)
	for _, u := range units {
		r.unit.reset()
		r.entries.Seek(u.entry)
		entry, err := r.next(r.entries)
		if err == nil {
			if entry == nil || entry.Tag != dwarf.TagCompileUnit {
				continue
			}
			err = r.readUnit(entry, u)
		}
		if b.err != nil {
			return b.err
		}
		if errors.Is(err, ErrTooLarge) {
			return err
		}
		if err != nil {
			summary.note(fmt.Errorf("%w: DWARF: %w", ErrDamaged, err))
		}
		if err := b.add(&r.unit); err != nil {
			return err
		}
		summary.Units++
		if u.entry-released > releaseEvery {
			released = u.entry
			in.release()
		}
	}
	return nil
}

// dwarfReader reads one compilation unit at a time.
type dwarfReader struct {
	b                *builder
	sections         dwarfSections
	order            binary.ByteOrder
	entries, origins *dwarf.Reader
	unit             unit
	base             base
	lines            lineTable
	names            map[dwarf.Offset]originName

	lineBytes, rangeBytes, textBytes allowance.Allowance
}

func (r *dwarfReader) readUnit(entry *dwarf.Entry, u dwarfUnit) error {
	r.base, r.names = baseOf(entry, u), map[dwarf.Offset]originName{}
	lineErr := r.readLines(entry, u)
	if !entry.Children {
		return lineErr
	}
	return errors.Join(lineErr, r.readFunctions())
}

// next returns the next entry, and counts its memory.
func (r *dwarfReader) next(from *dwarf.Reader) (*dwarf.Entry, error) {
	entry, err := from.Next()
	if err != nil || entry == nil {
		return entry, err
	}
	size := 1
	for i := range entry.Field {
		text, _ := entry.Field[i].Val.(string)
		size += len(text) + 1
	}
	r.b.step(len(entry.Field) + size/bytesPerStep)
	if r.b.err != nil {
		return nil, r.b.err
	}
	return entry, r.textBytes.Demand(size, errShared)
}

// readFunctions reads the functions of the unit, and those inlined into them, up to the end of its
// children.
func (r *dwarfReader) readFunctions() error {
	// scopes has the function of each open entry; -1 is outside of functions.
	scopes, depths := []int32{-1}, []int32{-1}
	for len(scopes) > 0 {
		entry, err := r.next(r.entries)
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

// function adds a function with code. For a function without code, it returns the parent, which is
// -1 outside of functions.
func (r *dwarfReader) function(entry *dwarf.Entry, parent, depth int32) (index int32, err error) {
	index = int32(len(r.unit.functions))
	start := len(r.unit.spans)
	err = r.ranges(entry, func(from, to uint64) error {
		r.unit.spans = append(r.unit.spans, span{from, to, index, depth})
		return r.b.check(&r.unit)
	})
	if errors.Is(err, ErrTooLarge) || r.b.err != nil {
		return -1, err
	}
	if err != nil || len(r.unit.spans) == start {
		r.unit.spans = r.unit.spans[:start]
		return parent, nil // a declaration, or damaged: the parent keeps its lines
	}
	name, linkage, err := r.name(entry, 0)
	if err != nil {
		return -1, err
	}
	if symbol, ok := r.b.symbolAt(r.unit.spans[start].from); ok && !linkage && depth == 0 {
		name = symbol // compilers omit the linkage name of functions with internal linkage
	}
	f := function{name: name, parent: parent}
	if parent >= 0 {
		if at, ok := entry.Val(dwarf.AttrCallFile).(int64); ok && at >= 0 {
			f.callFile = r.file(uint64(at))
		}
		if line, ok := entry.Val(dwarf.AttrCallLine).(int64); ok && line > 0 && line < 1<<31 {
			f.callLine = uint32(line)
		}
	}
	r.unit.functions = append(r.unit.functions, f)
	if err := r.b.check(&r.unit); err != nil {
		return -1, err
	}
	return index, nil
}

// maxOrigins bounds the references between declaration, abstract and concrete function. They can
// form a loop.
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
			origin, err := r.next(r.origins)
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
