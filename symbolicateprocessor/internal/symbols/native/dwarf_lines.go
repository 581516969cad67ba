// SPDX-License-Identifier: Apache-2.0

package native

import (
	"debug/dwarf"
	"fmt"
	"path"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
)

// lineTable is the line table of a unit (DWARF 5, 6.2).
type lineTable struct {
	unit      dwarfUnit
	directory string // of the compiler
	program   cursor

	version               uint16
	addressSize           uint8
	minLength, operations uint64
	lineBase              int8
	lineRange, opcodeBase uint8
	lengths               []byte // arguments of standard opcodes, from 1

	directories [][]byte
	files       []lineFile
}

// lineFile is a file of a line table. Its path is built when it is first needed: many files can
// share a long directory.
type lineFile struct {
	name      []byte
	directory uint64
	ref       ref
	known     bool
}

// readLines reads the line rows of a unit.
func (r *dwarfReader) readLines(entry *dwarf.Entry, u dwarfUnit) error {
	r.lines = lineTable{unit: u}
	at, ok := entry.Val(dwarf.AttrStmtList).(int64)
	if !ok {
		return nil
	}
	section := r.sections["line"]
	if at < 0 || at >= int64(len(section)) {
		return fmt.Errorf("%w: a line table at %d of %d", ErrDamaged, at, len(section))
	}
	r.lines.directory, _ = entry.Val(dwarf.AttrCompDir).(string)
	if err := r.lines.read(r.b, cursor{data: section[at:], order: r.order}, r.sections, &r.lineBytes); err != nil {
		return err
	}
	return r.runProgram()
}

// read reads the header. It adds the size of the table to total.
func (t *lineTable) read(b *builder, c cursor, sections dwarfSections, total *allowance.Allowance) error {
	length, wide := c.length()
	c = c.cut(length)
	if err := total.Demand(len(c.data), errShared); err != nil {
		return err
	}
	t.version, t.addressSize = c.u16(), t.unit.address
	if t.version < 2 || t.version > 5 {
		return fmt.Errorf("%w: a line table of version %d", ErrDamaged, t.version)
	}
	if t.version >= 5 {
		t.addressSize = c.u8()
		c.u8()
	}
	size := c.offset(wide)
	t.program = c
	c = t.program.cut(size)
	t.minLength, t.operations = uint64(c.u8()), 1
	if t.version >= 4 {
		t.operations = uint64(c.u8())
	}
	c.u8() // is_stmt
	t.lineBase, t.lineRange, t.opcodeBase = int8(c.u8()), c.u8(), c.u8()
	if t.operations == 0 || t.lineRange == 0 || t.opcodeBase == 0 {
		return fmt.Errorf("%w: the header of a line table", ErrDamaged)
	}
	t.lengths = c.take(uint64(t.opcodeBase) - 1)
	var err error
	if t.version >= 5 {
		err = t.readTables(b, &c, wide, sections)
	} else {
		err = t.readOldTables(b, &c)
	}
	if err == nil && c.bad {
		err = fmt.Errorf("%w: the header of a line table", ErrDamaged)
	}
	return err
}

// readOldTables reads the directories and files of versions before 5, which count from 1.
func (t *lineTable) readOldTables(b *builder, c *cursor) error {
	t.directories = append(t.directories, nil)
	for name := c.text(); len(name) > 0; name = c.text() {
		b.step(len(name) / bytesPerStep)
		if t.directories = append(t.directories, name); len(t.directories) > maxLineFiles {
			return ErrTooLarge
		}
	}
	t.files = append(t.files, lineFile{})
	for name := c.text(); len(name) > 0; name = c.text() {
		b.step(len(name) / bytesPerStep)
		if err := t.addOldFile(c, name); err != nil {
			return err
		}
	}
	return b.err
}

func (t *lineTable) addOldFile(c *cursor, name []byte) error {
	t.files = append(t.files, lineFile{name: name, directory: c.uleb()})
	c.uleb() // time
	c.uleb() // size
	if len(t.files) > maxLineFiles {
		return ErrTooLarge
	}
	return nil
}

// readTables reads the directories and files of version 5.
func (t *lineTable) readTables(b *builder, c *cursor, wide bool, sections dwarfSections) error {
	err := readEntries(b, c, wide, sections, func(f lineFile) { t.directories = append(t.directories, f.name) })
	if err != nil {
		return err
	}
	return readEntries(b, c, wide, sections, func(f lineFile) { t.files = append(t.files, f) })
}

// The content and the forms of entries.
const (
	contentPath, contentDirectory = 1, 2

	formString, formStrp, formLineStrp                                = 0x08, 0x0e, 0x1f
	formData1, formData2, formData4, formData8, formData16, formUdata = 0x0b, 0x05, 0x06, 0x07, 0x1e, 0x0f
	formBlock                                                         = 0x09
)

func readEntries(b *builder, c *cursor, wide bool, sections dwarfSections, add func(lineFile)) error {
	formats := make([][2]uint64, c.u8())
	for i := range formats {
		formats[i] = [2]uint64{c.uleb(), c.uleb()}
	}
	count := c.uleb()
	if count > maxLineFiles {
		return fmt.Errorf("%w: a line table with %d files", ErrTooLarge, count)
	}
	for ; count > 0 && !c.bad && b.err == nil; count-- {
		var f lineFile
		for _, format := range formats {
			b.step(1)
			var text []byte
			number := uint64(0)
			switch format[1] {
			case formString:
				text = c.text()
			case formStrp:
				text = textAt(sections["str"], c.offset(wide))
			case formLineStrp:
				text = textAt(sections["line_str"], c.offset(wide))
			case formData1:
				number = uint64(c.u8())
			case formData2:
				number = uint64(c.u16())
			case formData4:
				number = uint64(c.u32())
			case formData8:
				number = c.u64()
			case formData16:
				c.take(16)
			case formUdata:
				number = c.uleb()
			case formBlock:
				c.take(c.uleb())
			default:
				return fmt.Errorf("%w: a line table with form %#x", ErrDamaged, format[1])
			}
			b.step(len(text) / bytesPerStep)
			switch format[0] {
			case contentPath:
				f.name = text
			case contentDirectory:
				f.directory = number
			}
		}
		add(f)
	}
	return b.err
}

// textAt returns the text at an offset of a section, cut at maxName.
func textAt(section []byte, at uint64) []byte {
	if at >= uint64(len(section)) {
		return nil
	}
	c := cursor{data: section[at:]}
	c.data = c.data[:min(len(c.data), maxName)]
	whole := c.data
	if text := c.text(); !c.bad {
		return text
	}
	return whole
}

// file returns the path of a file.
func (r *dwarfReader) file(at uint64) ref {
	if at >= uint64(len(r.lines.files)) {
		return 0
	}
	f := &r.lines.files[at]
	if !f.known {
		f.known = true
		if name := cutName(f.name); name != "" {
			if f.directory < uint64(len(r.lines.directories)) {
				name = joined(cutName(r.lines.directories[f.directory]), name)
			}
			f.ref = r.b.ref(joined(r.lines.directory, name))
		}
	}
	return f.ref
}

func cutName(name []byte) string { return string(name[:min(len(name), maxName)]) }

// joined returns the path of a file that is relative to a directory.
func joined(directory, file string) string {
	if directory == "" || path.IsAbs(file) || hasDrive(file) {
		return file
	}
	directory = directory[:min(len(directory), maxName)]
	if hasDrive(directory) {
		return strings.TrimRight(directory, `\/`) + `\` + file
	}
	return path.Join(directory, file)
}

func hasDrive(name string) bool { return len(name) > 1 && name[1] == ':' }

// knownLengths are the arguments of the standard opcodes, from 1.
const knownLengths = "\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01"

// The opcodes of line programs.
const (
	opExtended, opCopy, opAdvancePC, opAdvanceLine, opSetFile        = 0, 1, 2, 3, 4
	opConstAddPC, opFixedAdvancePC                                   = 8, 9
	extendedEndSequence, extendedSetAddress, extendedDefineFile byte = 1, 2, 3
)

// runProgram runs the line program.
func (r *dwarfReader) runProgram() error {
	t := &r.lines
	for i, length := range t.lengths[:min(len(t.lengths), len(knownLengths))] {
		if length != knownLengths[i] {
			return fmt.Errorf("%w: opcode %d of a line table", ErrDamaged, i+1)
		}
	}
	var address, operation, file uint64
	var line int64
	// Linkers leave sequences of removed code; they start at an address without code.
	usable, first := true, true
	reset := func() { address, operation, file, line, first = 0, 0, 1, 1, true }
	reset()
	advance := func(delta uint64) {
		address += t.minLength * ((operation + delta) / t.operations)
		operation = (operation + delta) % t.operations
	}
	emit := func(row lineRow) {
		if first {
			usable = r.b.isCode(address)
		}
		if first = false; usable {
			r.unit.lines = append(r.unit.lines, row)
		}
	}
	c := &t.program
	for len(c.data) > 0 {
		r.b.step(1)
		if err := r.b.check(&r.unit); err != nil {
			return err
		}
		switch op := c.u8(); {
		case op >= t.opcodeBase:
			special := op - t.opcodeBase
			advance(uint64(special / t.lineRange))
			line += int64(t.lineBase) + int64(special%t.lineRange)
			emit(lineRow{address, r.file(file), lineNumber(line)})
		case op == opExtended:
			arguments := c.cut(c.uleb())
			switch arguments.u8() {
			case extendedEndSequence:
				emit(lineRow{address: address})
				reset()
			case extendedSetAddress:
				address, operation = arguments.address(uint8(len(arguments.data))), 0
			case extendedDefineFile:
				if err := t.addOldFile(&arguments, arguments.text()); err != nil {
					return err
				}
			}
		case op == opCopy:
			emit(lineRow{address, r.file(file), lineNumber(line)})
		case op == opAdvancePC:
			advance(c.uleb())
		case op == opAdvanceLine:
			line += c.sleb()
		case op == opSetFile:
			file = c.uleb()
		case op == opConstAddPC:
			advance(uint64((255 - t.opcodeBase) / t.lineRange))
		case op == opFixedAdvancePC:
			address, operation = address+uint64(c.u16()), 0
		default:
			for range t.lengths[op-1] {
				c.uleb()
			}
		}
	}
	if c.bad {
		return fmt.Errorf("%w: a line program", ErrDamaged)
	}
	return nil
}

// lineNumber returns a line within the range of rows.
func lineNumber(line int64) uint32 { return uint32(max(line, 0)) }
