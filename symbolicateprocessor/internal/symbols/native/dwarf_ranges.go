// SPDX-License-Identifier: Apache-2.0

package native

import (
	"debug/dwarf"
	"fmt"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
)

// base is the part of a compilation unit that its range lists refer to.
type base struct {
	dwarfUnit
	address   uint64 // of the unit
	addresses uint64 // DW_AT_addr_base
}

func baseOf(entry *dwarf.Entry, u dwarfUnit) base {
	b := base{dwarfUnit: u}
	if address, ok := entry.Val(dwarf.AttrEntrypc).(uint64); ok {
		b.address = address
	} else {
		b.address, _ = entry.Val(dwarf.AttrLowpc).(uint64)
	}
	if at, ok := entry.Val(dwarf.AttrAddrBase).(int64); ok {
		b.addresses = uint64(at)
	}
	return b
}

// ranges calls add for each range of addresses of a function.
func (r *dwarfReader) ranges(entry *dwarf.Entry, add func(from, to uint64) error) error {
	if low, ok := entry.Val(dwarf.AttrLowpc).(uint64); ok {
		switch high := entry.Val(dwarf.AttrHighpc).(type) {
		case uint64:
			return add(low, high)
		case int64:
			return add(low, low+uint64(high))
		}
	}
	at := uint64(0)
	switch offset := entry.Val(dwarf.AttrRanges).(type) {
	case int64:
		at = uint64(offset)
	case uint64: // DW_FORM_rnglistx
		at = offset
	default:
		return nil
	}
	name, list := "ranges", r.oldRanges
	if r.base.version >= 5 {
		name, list = "rnglists", r.newRanges
	}
	section := r.sections[name]
	if at >= uint64(len(section)) {
		return fmt.Errorf("%w: ranges at %d of %d", ErrDamaged, at, len(section))
	}
	c := cursor{data: section[at:], order: r.order}
	err := list(&c, add)
	if err == nil && c.bad {
		err = fmt.Errorf("%w: ranges at %d", ErrDamaged, at)
	}
	return err
}

// oldRanges reads a range list of versions before 5.
func (r *dwarfReader) oldRanges(c *cursor, add func(from, to uint64) error) error {
	start, size := r.base.address, r.base.dwarfUnit.address
	selects := ^uint64(0) // the marker of a base address
	if size == 4 {
		selects = 1<<32 - 1
	}
	for !c.bad && r.b.err == nil {
		r.b.step(1)
		if err := r.rangeBytes.Demand(2*8, errShared); err != nil {
			return err
		}
		from, to := c.address(size), c.address(size)
		switch {
		case from == 0 && to == 0:
			return nil
		case from == selects:
			start = to
		default:
			if err := add(start+from, start+to); err != nil {
				return err
			}
		}
	}
	return r.b.err
}

// The kinds of entries of range lists in version 5.
const (
	rangeEnd, rangeBaseX, rangeStartXEndX, rangeStartXLength = 0, 1, 2, 3
	rangeOffsets, rangeBase, rangeStartEnd, rangeStartLength = 4, 5, 6, 7
)

// newRanges reads a range list of version 5.
func (r *dwarfReader) newRanges(c *cursor, add func(from, to uint64) error) error {
	start, size := r.base.address, r.base.dwarfUnit.address
	for !c.bad && r.b.err == nil {
		r.b.step(1)
		before := len(c.data)
		from, to, isRange := uint64(0), uint64(0), true
		switch kind := c.u8(); kind {
		case rangeEnd:
			return nil
		case rangeBaseX:
			start, isRange = r.addressX(c.uleb()), false
		case rangeBase:
			start, isRange = c.address(size), false
		case rangeStartXEndX:
			from, to = r.addressX(c.uleb()), r.addressX(c.uleb())
		case rangeStartXLength:
			from = r.addressX(c.uleb())
			to = from + c.uleb()
		case rangeOffsets:
			from, to = start+c.uleb(), start+c.uleb()
		case rangeStartEnd:
			from, to = c.address(size), c.address(size)
		case rangeStartLength:
			from = c.address(size)
			to = from + c.uleb()
		default:
			return fmt.Errorf("%w: a range of kind %d", ErrDamaged, kind)
		}
		if err := r.rangeBytes.Demand(before-len(c.data), errShared); err != nil {
			return err
		}
		if isRange && !c.bad {
			if err := add(from, to); err != nil {
				return err
			}
		}
	}
	return r.b.err
}

// addressX returns an address of .debug_addr.
func (r *dwarfReader) addressX(index uint64) uint64 {
	section, size := r.sections["addr"], uint64(r.base.dwarfUnit.address)
	if index > uint64(len(section)) || r.base.addresses > uint64(len(section)) || r.base.addresses+index*size > uint64(len(section)) {
		return 0
	}
	c := cursor{data: section[r.base.addresses+index*size:], order: r.order}
	return c.address(uint8(size))
}

// newShared returns the number of bytes that may be read of sections with parts that units and
// functions can share.
func newShared(times int, sections ...[]byte) allowance.Allowance {
	bytes := sharedSlack
	for _, section := range sections {
		bytes += times * len(section)
	}
	return allowance.Of(bytes)
}

var errShared = fmt.Errorf("%w: many units or functions share a part", ErrTooLarge)
