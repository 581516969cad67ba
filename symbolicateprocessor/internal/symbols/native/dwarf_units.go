// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"slices"
)

// The standard library allocates memory for numbers that a file states, and for tables and texts
// that many units share: a file of 500 bytes can need any amount. Here, files are checked before
// the standard library reads them; line tables and ranges are read by this package.

// dwarfSections are the sections of DWARF, by name without ".debug_".
type dwarfSections map[string][]byte

// dwarfUnit is the header of a unit.
type dwarfUnit struct {
	entry   dwarf.Offset // of its first entry
	version uint16
	wide    bool // 64-bit DWARF
	address uint8
	abbrevs uint64
}

// check returns the units. It fails if reading them would need much memory.
func (s dwarfSections) check(b *builder, order binary.ByteOrder) ([]dwarfUnit, error) {
	for _, name := range []string{"info", "str", "line_str"} {
		if err := checkTexts(b, name, s[name]); err != nil {
			return nil, err
		}
	}
	units, err := s.units(b, order)
	if err != nil {
		return nil, err
	}
	return units, s.checkAbbrevs(b, units, order)
}

// checkTexts fails if a section has a text of more than twice maxText bytes. Entries have zeros,
// too.
func checkTexts(b *builder, name string, section []byte) error {
	for at := maxText; at < len(section); at += maxText {
		if b.step(maxText / 64); b.err != nil { // it is fast, but may read from a disk
			return b.err
		}
		// A text of twice this length contains a complete window without 0.
		if bytes.IndexByte(section[at-maxText:at], 0) < 0 {
			return fmt.Errorf("%w: a text of .debug_%s", ErrTooLarge, name)
		}
	}
	return nil
}

// units reads the headers of all units.
func (s dwarfSections) units(b *builder, order binary.ByteOrder) (units []dwarfUnit, err error) {
	c := cursor{data: s["info"], order: order}
	for len(c.data) > 0 {
		if len(units) == maxUnits {
			return nil, fmt.Errorf("%w: more than %d units", ErrTooLarge, maxUnits)
		}
		if err := b.claimUnits(len(units)); err != nil {
			return nil, err
		}
		length, wide := c.length()
		u := dwarfUnit{wide: wide}
		body := c.cut(length)
		if length == 0 {
			continue // padding
		}
		u.version = body.u16()
		kind := uint8(0)
		if u.version >= 5 {
			kind, u.address = body.u8(), body.u8()
		}
		u.abbrevs = body.offset(wide)
		if u.version < 5 {
			u.address = body.u8()
		}
		switch kind {
		case 4, 5: // skeleton, split: an ID
			body.u64()
		case 2, 6: // types: a signature and an offset
			body.u64()
			body.offset(wide)
		}
		if c.bad || body.bad {
			return nil, fmt.Errorf("%w: the header of a unit", ErrDamaged)
		}
		u.entry = dwarf.Offset(len(s["info"]) - len(c.data) - len(body.data))
		units = append(units, u)
	}
	return units, nil
}

// unitBytes is the memory of a unit, here and in the standard library.
const unitBytes = 256

// claimUnits counts a unit, and claims the memory of the next ones.
func (b *builder) claimUnits(known int) error {
	if b.step(1); b.err != nil || known%1024 != 0 {
		return b.err
	}
	return b.work.Claim(1024 * unitBytes)
}

// checkAbbrevs fails if the abbreviations of all units need too much memory. Units share a table or
// have their own; tables that overlap are damaged.
func (s dwarfSections) checkAbbrevs(b *builder, units []dwarfUnit, order binary.ByteOrder) error {
	var tables []uint64
	for _, u := range units {
		tables = append(tables, u.abbrevs)
	}
	slices.Sort(tables)
	tables = slices.Compact(tables)
	section := s["abbrev"]
	memory := 0
	for i, at := range tables {
		end := uint64(len(section))
		if i+1 < len(tables) {
			end = min(end, tables[i+1])
		}
		if at >= end {
			return fmt.Errorf("%w: abbreviations at %d of %d", ErrDamaged, at, len(section))
		}
		c := cursor{data: section[at:end], order: order}
		for c.uleb() != 0 {
			c.uleb() // tag
			c.u8()   // children
			attributes := 0
			for attribute, form := c.uleb(), c.uleb(); attribute != 0 || form != 0; attribute, form = c.uleb(), c.uleb() {
				if form == formImplicitConst {
					c.uleb()
				}
				if attributes++; attributes > maxAttributes {
					return fmt.Errorf("%w: more than %d attributes", ErrTooLarge, maxAttributes)
				}
			}
			if b.step(attributes); b.err != nil {
				return b.err
			}
			memory += abbrevBytes + attributeBytes*attributes
			if memory > maxAbbrevs {
				return fmt.Errorf("%w: abbreviations", ErrTooLarge)
			}
		}
		if c.bad {
			return fmt.Errorf("%w: abbreviations at %d overlap others, or do not end", ErrDamaged, at)
		}
	}
	return b.work.Claim(int64(memory))
}

// formImplicitConst is the form of an attribute whose value is in the abbreviation.
const formImplicitConst = 0x21

// cursor reads a part of a section. After its end, it returns zeros, and bad is set.
type cursor struct {
	data  []byte
	order binary.ByteOrder
	bad   bool
}

// take returns the next n bytes, or nil.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.data)) {
		c.data, c.bad = nil, true
		return nil
	}
	taken := c.data[:n:n]
	c.data = c.data[n:]
	return taken
}

// cut returns a cursor for the next n bytes.
func (c *cursor) cut(n uint64) cursor {
	part := c.take(n)
	return cursor{data: part, order: c.order, bad: c.bad}
}

func (c *cursor) u8() uint8 {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}

// address returns an address of 8 bytes, or of 4.
func (c *cursor) address(size uint8) uint64 {
	if size == 4 {
		return uint64(c.u32())
	}
	return c.u64()
}

// offset returns an offset of 32-bit or 64-bit DWARF.
func (c *cursor) offset(wide bool) uint64 {
	if wide {
		return c.u64()
	}
	return uint64(c.u32())
}

// length returns the length at the start of a unit, and whether the unit is 64-bit DWARF.
func (c *cursor) length() (length uint64, wide bool) {
	if length = uint64(c.u32()); length == 0xffffffff {
		return c.u64(), true
	}
	return length, false
}

func (c *cursor) uleb() (value uint64) {
	for shift := 0; ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			value |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 {
			return value
		}
	}
}

func (c *cursor) sleb() (value int64) {
	for shift := 0; ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			value |= int64(b&0x7f) << shift
		}
		if b&0x80 == 0 {
			if b&0x40 != 0 && shift+7 < 64 {
				value |= -1 << (shift + 7)
			}
			return value
		}
	}
}

// text returns a text that ends with 0.
func (c *cursor) text() []byte {
	i := bytes.IndexByte(c.data, 0)
	if i < 0 {
		c.data, c.bad = nil, true
		return nil
	}
	return c.take(uint64(i) + 1)[:i]
}
