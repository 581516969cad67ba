// SPDX-License-Identifier: Apache-2.0

package perfetto_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto"
)

// field is a field of a message. A number has no bytes.
type field struct {
	number int
	value  uint64
	bytes  []byte
}

// fields are those of a message, as far as it can be read.
type fields struct {
	all []field
	ok  bool
}

func slowFields(data []byte) (m fields) {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeField(data)
		if n < 0 {
			return m
		}
		_, _, tag := protowire.ConsumeTag(data)
		f, value := field{number: int(number)}, data[tag:n]
		switch kind {
		case protowire.VarintType:
			f.value, _ = protowire.ConsumeVarint(value)
		case protowire.Fixed64Type:
			f.value, _ = protowire.ConsumeFixed64(value)
		case protowire.BytesType:
			f.bytes, _ = protowire.ConsumeBytes(value)
			f.bytes = append([]byte{}, f.bytes...)
		default:
			f.number = 0
		}
		m.all = append(m.all, f)
		data = data[n:]
	}
	m.ok = true
	return m
}

// last is the field of a number that counts; has says whether there is one.
func (m fields) last(number int) (f field, has bool) {
	for _, other := range m.all {
		if other.number == number {
			f, has = other, true
		}
	}
	return f, has
}

func (m fields) value(number int) uint64 { f, _ := m.last(number); return f.value }

func (m fields) uint32(number int) uint32 { return uint32(min(m.value(number), 1<<32-1)) }

func (m fields) each(number int) (all []field) {
	for _, f := range m.all {
		if f.number == number {
			all = append(all, f)
		}
	}
	return all
}

// ids are the numbers of a repeated field, packed or not.
func (m fields) ids(number int) (ids []uint64) {
	for _, f := range m.each(number) {
		if f.bytes == nil {
			ids = append(ids, f.value)
		}
		for rest := f.bytes; len(rest) > 0; {
			id, n := protowire.ConsumeVarint(rest)
			if n < 0 {
				break
			}
			ids, rest = append(ids, id), rest[n:]
		}
	}
	return ids
}

// slowReader is a second reader, written for its simplicity: it has no caches and no indices, and
// resolves every sample from the messages as they are at its packet. It is the oracle of
// FuzzPerfetto; testdata/oracle.py is a third one over the published protos, which does not read
// what these reject.
type slowReader struct {
	sequences map[uint32]*slowSequence
	clocks    map[[2]uint32]slowClock
	names     map[uint32]string
	pids      map[uint32]uint32
	samples   []slowSample
	period    int64
	lost      wantLost
	packets   int // that are lost
}

type slowSequence struct {
	tables map[int]map[uint64]fields // by the number in InternedData and the id
	clock  uint32
	period int64
}

type slowClock struct{ at, unix, multiplier uint64 }

type slowSample struct {
	clock   [2]uint32
	reading uint64
	wantSample
}

func slowRead(data []byte) (trace wantTrace, lostPackets int) {
	r := &slowReader{sequences: map[uint32]*slowSequence{}, clocks: map[[2]uint32]slowClock{}, names: map[uint32]string{}, pids: map[uint32]uint32{}}
	packets := slowFields(data)
	for _, packet := range packets.each(1) {
		if p := slowFields(packet.bytes); packet.bytes == nil || !p.ok || !r.packet(p) {
			r.packets++
		}
	}
	if !packets.ok {
		r.packets++
	}
	return r.finish(), r.packets
}

func (r *slowReader) packet(p fields) (ok bool) {
	ok = true
	id := p.uint32(10)
	s := r.sequences[id]
	cleared := slices.ContainsFunc(p.each(13), func(f field) bool { return f.value&1 != 0 }) ||
		slices.ContainsFunc(p.each(41), func(f field) bool { return f.value != 0 })
	if s == nil || cleared {
		s = &slowSequence{tables: map[int]map[uint64]fields{}}
		r.sequences[id] = s
	}
	if defaults, has := p.last(59); has {
		ok = s.defaults(slowFields(defaults.bytes))
	}
	for _, interned := range p.each(12) {
		if interned.bytes != nil {
			ok = s.intern(slowFields(interned.bytes)) && ok
		}
	}
	if snapshot, _ := p.last(6); snapshot.bytes != nil {
		ok = r.snapshot(id, slowFields(snapshot.bytes)) && ok
	}
	for _, of := range [][4]int{{2, 2, 1, 2}, {60, 4, 2, 5}} {
		list, _ := p.last(of[0])
		threads := slowFields(list.bytes)
		for _, thread := range threads.each(of[1]) {
			t := slowFields(thread.bytes)
			if name, _ := t.last(of[3]); len(name.bytes) > 0 {
				r.names[t.uint32(of[2])] = string(name.bytes)
			}
		}
		ok = threads.ok && ok
	}
	if sample, _ := p.last(66); sample.bytes != nil {
		ok = r.sample(id, s, p, slowFields(sample.bytes)) && ok
	}
	return ok
}

func (s *slowSequence) defaults(d fields) bool {
	if _, has := d.last(58); has {
		s.clock = d.uint32(58)
	}
	for _, perf := range d.each(12) {
		for _, timebase := range slowFields(perf.bytes).each(1) {
			for _, frequency := range slowFields(timebase.bytes).each(2) {
				if frequency.value > 0 && frequency.value <= 1e9 {
					s.period = 1e9 / int64(frequency.value)
				}
			}
		}
	}
	return d.ok
}

func (s *slowSequence) intern(data fields) (ok bool) {
	ok = data.ok
	for _, f := range data.all {
		if f.bytes == nil || !slices.Contains([]int{5, 6, 7, 16, 17, 18, 19}, f.number) {
			continue
		}
		entry := slowFields(f.bytes)
		if _, has := entry.last(1); !entry.ok || !has {
			ok = false
			continue
		}
		if s.tables[f.number] == nil {
			s.tables[f.number] = map[uint64]fields{}
		}
		s.tables[f.number][entry.value(1)] = entry
	}
	return ok
}

func ownClock(sequence, id uint32) [2]uint32 {
	if id < 64 || id > 127 {
		sequence = 0
	}
	return [2]uint32{sequence, id}
}

func (r *slowReader) snapshot(sequence uint32, snapshot fields) bool {
	primary := uint32(6)
	if _, has := snapshot.last(2); has {
		primary = snapshot.uint32(2)
	}
	var clocks []fields
	unix, known := uint64(0), false
	for _, f := range snapshot.each(1) {
		c := slowFields(f.bytes)
		if !c.ok {
			return false
		}
		if c.uint32(1) == 1 {
			unix, known = c.value(2), true
		}
		clocks = append(clocks, c)
	}
	if !snapshot.ok {
		return false
	}
	learn := func(of [2]uint32, c slowClock) {
		if _, known := r.clocks[of]; !known {
			r.clocks[of] = c
		}
	}
	if primary == 1 {
		learn([2]uint32{}, slowClock{0, 0, 1})
	}
	for _, c := range clocks {
		id := c.uint32(1)
		if !known || id <= 1 || id > 127 || c.value(3) != 0 {
			continue
		}
		offset := slowClock{c.value(2), unix, min(max(c.value(4), 1), 1<<32-1)}
		learn(ownClock(sequence, id), offset)
		if id == primary {
			learn([2]uint32{}, offset)
		}
	}
	return true
}

func (r *slowReader) sample(sequence uint32, s *slowSequence, p, sample fields) bool {
	if !sample.ok {
		return false
	}
	_, kernelLost := sample.last(17)
	_, event := sample.last(19)
	if kernelLost || event || slices.ContainsFunc(sample.each(18), func(f field) bool { return f.value == 4 }) {
		return true
	}
	if _, has := sample.last(4); !has {
		r.lost.Skipped++
		return true
	}
	var known []wantFrame
	for _, id := range s.tables[7][sample.value(4)].ids(2) {
		if frame, has := s.tables[6][id]; has {
			known = append(known, s.frame(frame))
		} else {
			r.lost.Frames++
		}
	}
	if len(known) == 0 {
		r.lost.Stacks++
		return true
	}
	slices.Reverse(known)
	r.period = cmp.Or(r.period, s.period)
	tid := sample.uint32(3)
	if _, seen := r.pids[tid]; !seen {
		r.pids[tid] = sample.uint32(2)
	}
	r.samples = append(r.samples, slowSample{
		ownClock(sequence, cmp.Or(p.uint32(58), s.clock)), p.value(8),
		wantSample{TID: tid, Mode: uint8(min(sample.value(5), 255)), Unwind: uint8(min(sample.value(16), 255)), Stack: known},
	})
	return true
}

func (s *slowSequence) frame(f fields) wantFrame {
	text := func(table int, of fields, number int) string {
		if _, has := of.last(number); !has {
			return ""
		}
		t, _ := s.tables[table][of.value(number)].last(2)
		return string(t.bytes)
	}
	m := fields{}
	if _, has := f.last(3); has {
		m = s.tables[19][f.value(3)]
	}
	var path []byte
	for _, id := range m.ids(7) {
		if segment, has := s.tables[17][id]; has {
			if len(path) > 0 {
				path = append(path, '/')
			}
			t, _ := segment.last(2)
			path = append(path, t.bytes...)
		}
	}
	out := wantFrame{
		Function: text(5, f, 2), File: text(18, f, 5), Line: uint32(min(f.value(6), 1<<31)), Path: string(path),
		BuildID: hex.EncodeToString([]byte(text(16, m, 2))), Java: bytes.Contains(path, []byte("dalvik-jit-code-cache")),
	}
	for _, suffix := range []string{".oat", ".odex", ".vdex", ".jar", ".dex"} {
		out.Java = out.Java || bytes.HasSuffix(path, []byte(suffix))
	}
	offset := uint64(0)
	if _, has := m.last(8); has && m.value(8) > m.value(3) {
		offset = m.value(8) - m.value(3)
	}
	if relPC, has := f.last(4); has && !out.Java {
		inFile, below := bits.Sub64(relPC.value, m.value(6), 0)
		inFile, lower := bits.Sub64(inFile, offset, 0)
		if address, over := bits.Add64(inFile, m.value(4), 0); below+lower+over == 0 {
			out.Address = address
		}
	}
	return out
}

func (r *slowReader) finish() wantTrace {
	out := wantTrace{Period: r.period}
	for _, s := range r.samples {
		c, known := r.clocks[s.clock]
		if s.clock[1] == 1 {
			c, known = slowClock{0, 0, 1}, true
		}
		s.Time = c.unix + (s.reading-c.at)*c.multiplier
		if !known || s.Time >= 1<<33*1e9 {
			r.lost.Clocks++
			continue
		}
		s.Thread = r.names[s.TID]
		if r.pids[s.TID] == s.TID {
			s.Thread = "main"
		}
		out.Samples = append(out.Samples, s.wantSample)
	}
	slices.SortStableFunc(out.Samples, func(a, b wantSample) int { return cmp.Compare(a.Time, b.Time) })
	out.Lost = r.lost
	return out
}

// compare compares what the package made of a trace with the slow reader.
func compare(t testing.TB, data []byte, trace *perfetto.Trace, err error) {
	if errors.Is(err, perfetto.ErrTooLarge) {
		return
	}
	want, lostPackets := slowRead(data)
	if err != nil {
		require.Empty(t, want.Samples)
		return
	}
	require.Equal(t, want, words(trace))
	require.Equal(t, lostPackets, trace.Lost.Packets)
}
