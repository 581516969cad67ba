// SPDX-License-Identifier: Apache-2.0

package perfetto

import "math"

// Fields of ClockSnapshot and of its clocks.
const (
	snapshotClocks  = 1
	snapshotPrimary = 2

	clockID          = 1
	clockTimestamp   = 2
	clockIncremental = 3
	clockMultiplier  = 4
)

// Clocks by ID (BuiltinClock). IDs from 64 to 127 are local to a sequence.
const (
	clockOfTrace  = 0 // in this package: the clock of packets that state none
	clockRealtime = 1
	clockBoottime = 6

	firstSequenceClock = 64
	firstGlobalClock   = 128
)

// clock is a clock of the trace.
type clock struct{ sequence, id uint32 }

// clockOf returns the clock for an ID in a packet of a sequence.
func clockOf(sequence, id uint32) clock {
	if id < firstSequenceClock || id >= firstGlobalClock {
		sequence = 0
	}
	return clock{sequence, id}
}

// offset converts readings of a clock to Unix time.
type offset struct {
	at, unix   uint64 // one instant on both clocks
	multiplier uint64 // nanoseconds of one tick
}

// maxUnixNano is the latest time of a sample: the year 2242.
const maxUnixNano = 1 << 33 * 1_000_000_000

func (o offset) unixNano(reading uint64) (nanos uint64, ok bool) {
	nanos = o.unix + (reading-o.at)*o.multiplier // modulo 2^64, for readings before the snapshot
	return nanos, nanos < maxUnixNano
}

// clocks has the offsets from the snapshots.
type clocks map[clock]offset

// snapshot reads a ClockSnapshot. For each clock, the first snapshot counts. It reports whether the
// message is well-formed.
func (c clocks) snapshot(sequence uint32, data []byte) bool {
	primary, unix, known := uint32(clockBoottime), uint64(0), false
	type reading struct {
		clock clock
		offset
	}
	var readings []reading
	m := fieldsOf(data)
	for m.next() {
		switch m.Number {
		case snapshotPrimary:
			primary = m.uint32()
		case snapshotClocks:
			id, o, ok := readClock(m.Bytes)
			switch {
			case !ok:
				return false
			case id == clockRealtime:
				unix, known = o.at, true
			case id != clockOfTrace && id < firstGlobalClock && o.multiplier > 0 && len(readings) < firstGlobalClock:
				readings = append(readings, reading{clockOf(sequence, id), o})
			}
		}
	}
	if m.Broken {
		return false
	}
	if primary == clockRealtime {
		c.add(clock{id: clockOfTrace}, offset{0, 0, 1})
	}
	if !known {
		return true
	}
	for _, r := range readings {
		r.unix = unix
		c.add(r.clock, r.offset)
		if r.clock.id == primary {
			c.add(clock{id: clockOfTrace}, r.offset)
		}
	}
	return true
}

// readClock reads a clock of a snapshot. For an incremental clock, which samples do not use, the
// multiplier is 0.
func readClock(data []byte) (id uint32, o offset, ok bool) {
	o.multiplier = 1
	incremental := false
	m := fieldsOf(data)
	for m.next() {
		switch m.Number {
		case clockID:
			id = m.uint32()
		case clockTimestamp:
			o.at = m.Varint
		case clockIncremental:
			incremental = m.Varint != 0
		case clockMultiplier:
			o.multiplier = max(1, min(m.Varint, math.MaxUint32))
		}
	}
	if incremental {
		o.multiplier = 0
	}
	return id, o, !m.Broken
}

func (c clocks) add(of clock, o offset) {
	if _, known := c[of]; !known {
		c[of] = o
	}
}

// unixNano returns the Unix time of a reading, and whether it is known.
func (c clocks) unixNano(by clock, reading uint64) (uint64, bool) {
	if by.id == clockRealtime {
		return reading, reading < maxUnixNano
	}
	o, known := c[by]
	if !known {
		return 0, false
	}
	return o.unixNano(reading)
}
