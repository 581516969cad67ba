// SPDX-License-Identifier: Apache-2.0

package native

import (
	"cmp"
	"slices"
	"sort"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// unit is a compilation unit: functions, their places, and the lines of the code.
type unit struct {
	functions []function
	spans     []span
	lines     []lineRow
}

// function is a function, or one that was inlined into another at a call site.
type function struct {
	name     ref
	parent   int32 // index; -1 is none
	callFile ref
	callLine uint32
}

// span is a range of addresses of a function. Those of inlined functions are deeper.
type span struct {
	from, to uint64
	function int32
	depth    int32
}

// lineRow is the start of a range with one line. It ends at the next row.
type lineRow struct {
	address uint64
	file    ref
	line    uint32
}

// kind sorts the end of a range before the start of another.
func (r lineRow) kind() int {
	if r.file == 0 && r.line == 0 {
		return 0
	}
	return 1
}

func (u *unit) reset() { u.functions, u.spans, u.lines = u.functions[:0], u.spans[:0], u.lines[:0] }

// bytes returns the memory of a unit, including that for building it.
func (u *unit) bytes() int64 {
	return knownSiteBytes*int64(len(u.lines)) + 48*int64(len(u.functions)+len(u.spans))
}

// knownSiteBytes is the memory of a line while it is added: the row, and an entry of a map.
const knownSiteBytes = 80

func (u *unit) tooLarge() bool { return max(len(u.functions), len(u.spans), len(u.lines)) > maxUnit }

// site is a function and a line. Table.Lookup follows parents to the function that is not inlined.
type site struct {
	name   ref
	file   ref
	line   uint32
	parent uint32 // index; 0 is none
}

// segment is a range of addresses with one site.
type segment struct {
	from uint64
	size uint32
	site uint32
}

// builder collects the content of a table.
type builder struct {
	*symbols.Interner
	work     *symbols.Work
	err      error  // of work
	claimed  int64  // bytes of memory
	limit    int64  // bytes of the table
	sites    []site // 0 is none
	segments []segment
	symbols  []segment // of symbol tables: for addresses without a segment
	loads    []load
	code     []addresses // sorted ranges with code; empty = all addresses are code
	releases []func()
}

// addresses is a range.
type addresses struct{ from, to uint64 }

// load is a part of the file that is loaded at an address.
type load struct{ offset, address, size uint64 }

// newBuilder returns a builder for a file of a size. It must be closed.
func newBuilder(work *symbols.Work, size int64) *builder {
	size = min(maxBuilt, 2*size+sharedSlack) // compressed sections are larger than the file
	b := &builder{work: work, limit: size}
	b.Interner = symbols.NewInterner(reserve[byte](b, size))
	b.sites = append(reserve[site](b, size/entryBytes), site{})
	b.segments = reserve[segment](b, size/entryBytes)
	return b
}

func reserve[T any](b *builder, capacity int64) []T {
	list, release := symbols.Reserve[T](capacity)
	b.releases = append(b.releases, release)
	return list
}

// close releases the memory.
func (b *builder) close() {
	for _, release := range b.releases {
		release()
	}
}

// step counts steps where an error cannot be returned. The next check does.
func (b *builder) step(n int) {
	if err := b.work.Step(n); err != nil && b.err == nil {
		b.err = err
	}
}

// claimEvery is the number of bytes by which the claim of memory grows.
const claimEvery = 1 << 20

// check fails if the work has failed, or if the table or the current unit need too much memory. u
// is nil if there is no unit.
func (b *builder) check(u *unit) error {
	if b.err != nil {
		return b.err
	}
	table := int64(len(b.Text)) + b.TableBytes() + entryBytes*int64(len(b.sites)+len(b.segments)+len(b.symbols))
	if table > maxBuilt {
		return ErrTooLarge
	}
	if u != nil {
		if u.tooLarge() {
			return ErrTooLarge
		}
		table += u.bytes()
	}
	if table > b.claimed {
		more := table - b.claimed + claimEvery
		if err := b.work.Claim(more); err != nil {
			return err
		}
		b.claimed += more
	}
	return nil
}

type ref = symbols.Ref

// ref returns the place of a string.
func (b *builder) ref(s string) ref {
	s = s[:min(len(s), maxName)]
	b.step(len(s) / bytesPerStep)
	if len(b.Text) > maxBuilt { // check reports that it is too large
		return 0
	}
	return b.Intern(s)
}

// bytesPerStep is the number of bytes of a text that are hashed, compared or copied in a step.
const bytesPerStep = 8

// stopped is the panic that ends a sort.
type stopped struct{ error }

// compared counts a comparison.
func (b *builder) compared(result int) int {
	if b.step(1); b.err != nil {
		panic(stopped{b.err})
	}
	return result
}

// isCode reports whether an address has code. Linkers remove functions but leave their DWARF, at
// addresses near 0 or -1.
func (b *builder) isCode(address uint64) bool {
	if len(b.code) == 0 {
		return address != 0 && address < 1<<63
	}
	i := sort.Search(len(b.code), func(i int) bool { return b.code[i].to > address })
	return i < len(b.code) && b.code[i].from <= address
}

// add cuts the functions of a unit at the boundaries of inlined functions and of lines.
func (b *builder) add(u *unit) error {
	if err := b.check(u); err != nil {
		return err
	}
	build := b // the comparisons have a parameter b
	slices.SortStableFunc(u.lines, func(a, b lineRow) int {
		return build.compared(cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(a.kind(), b.kind())))
	})
	slices.SortFunc(u.spans, func(a, b span) int {
		return build.compared(cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.depth, b.depth), cmp.Compare(b.to, a.to), cmp.Compare(a.function, b.function)))
	})
	a := assembly{b: b, u: u, calls: make([]uint32, len(u.functions)), known: map[site]uint32{}}
	var open []span
	at := uint64(0)
	upTo := func(address uint64) {
		for len(open) > 0 && at < address {
			top := open[len(open)-1]
			if top.to > at {
				a.emit(at, min(address, top.to), top.function)
				at = min(address, top.to)
			}
			if top.to <= at {
				open = open[:len(open)-1]
			}
		}
		at = address
	}
	for _, s := range u.spans {
		if err := b.check(u); err != nil {
			return err
		}
		if s.from >= s.to || !b.isCode(s.from) {
			continue
		}
		upTo(s.from)
		for len(open) > 0 && (open[len(open)-1].to <= s.from || open[len(open)-1].depth >= s.depth) {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			s.to = min(s.to, open[len(open)-1].to)
		} else if s.depth > 0 {
			continue // inlined into nothing
		}
		if len(open) < maxDepth {
			open = append(open, s)
		}
	}
	upTo(1<<64 - 1)
	return b.check(u)
}

// assembly is a unit that is being added.
type assembly struct {
	b     *builder
	u     *unit
	calls []uint32        // function → site of its call + 1
	known map[site]uint32 // sites of this unit
}

// emit adds the lines of a function in a range.
func (a *assembly) emit(from, to uint64, function int32) {
	rows := a.u.lines
	next := sort.Search(len(rows), func(i int) bool { return rows[i].address > from })
	for ; from < to; next++ {
		a.b.step(1)
		if a.b.err = a.b.check(a.u); a.b.err != nil {
			return
		}
		end, row := to, lineRow{}
		if next > 0 {
			row = rows[next-1]
		}
		if next < len(rows) {
			end = min(to, rows[next].address)
		}
		if end > from {
			a.b.addSegment(&a.b.segments, from, end, a.site(site{a.u.functions[function].name, row.file, row.line, a.call(function)}))
			from = end
		}
	}
}

// call returns the site where a function was inlined, 0 for others.
func (a *assembly) call(function int32) uint32 {
	f := a.u.functions[function]
	if f.parent < 0 {
		return 0
	}
	if a.calls[function] == 0 {
		// Parents have lower indices, so the recursion ends.
		a.calls[function] = 1 + a.site(site{a.u.functions[f.parent].name, f.callFile, f.callLine, a.call(f.parent)})
	}
	return a.calls[function] - 1
}

func (a *assembly) site(s site) uint32 {
	if at, ok := a.known[s]; ok {
		return at
	}
	at := uint32(len(a.b.sites))
	a.b.sites = append(a.b.sites, s)
	a.known[s] = at
	return at
}

// addSegment adds a range; a range of more than 4 GiB is truncated.
func (b *builder) addSegment(to *[]segment, from, end uint64, site uint32) {
	*to = append(*to, segment{from, uint32(min(end-from, 1<<32-1)), site})
}

// addSymbol adds a symbol. A symbol of size 0 ends at the next symbol.
func (b *builder) addSymbol(name string, address, size uint64) error {
	b.step(1)
	if name == "" || !b.isCode(address) {
		return b.err
	}
	b.sites = append(b.sites, site{name: b.ref(name)})
	b.addSegment(&b.symbols, address, address+size, uint32(len(b.sites)-1))
	return b.check(nil)
}

// row is the start of a range with a site; it ends at the next row. Site 0 is a gap.
type row struct {
	address uint64
	site    uint32
}

// symbolAt returns the name of the symbol at an address. The symbols must be sorted.
func (b *builder) symbolAt(address uint64) (ref, bool) {
	i := sort.Search(len(b.symbols), func(i int) bool { return b.symbols[i].from > address }) - 1
	if i < 0 || b.symbols[i].from != address {
		return 0, false
	}
	return b.sites[b.symbols[i].site].name, true
}

// sort prepares rows. Of symbols with the same address, the last one counts: the largest.
func (b *builder) sort() {
	build := b
	slices.SortStableFunc(b.segments, func(a, b segment) int { return build.compared(cmp.Compare(a.from, b.from)) })
	b.sortSymbols()
	for i := range b.symbols { // sizes of symbols that have none
		s := &b.symbols[i]
		if i+1 < len(b.symbols) && (s.size == 0 || s.from+uint64(s.size) > b.symbols[i+1].from) {
			s.size = uint32(min(b.symbols[i+1].from-s.from, 1<<32-1))
		} else if s.size == 0 {
			s.size = uint32(min(b.codeEnd(s.from)-s.from, 1<<32-1))
		}
	}
}

func (b *builder) sortSymbols() {
	build := b
	slices.SortStableFunc(b.symbols, func(a, b segment) int {
		return build.compared(cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.size, b.size)))
	})
}

// rows yields the segments without overlaps, with symbols in the gaps.
func (b *builder) rows(yield func(row) bool) {
	last := row{}
	put := func(address uint64, site uint32) bool {
		if site == last.site {
			return true
		}
		last = row{address, site}
		b.step(1)
		return b.err == nil && yield(last)
	}
	at, next := uint64(0), 0
	// fill covers the gap before an address with symbols.
	fill := func(to uint64) bool {
		for ; next < len(b.symbols) && b.symbols[next].from < to; next++ {
			s := b.symbols[next]
			end := s.from + uint64(s.size)
			if end > at {
				from := max(s.from, at)
				if from > at && !put(at, 0) || !put(from, s.site) {
					return false
				}
				if at = min(end, to); end > to {
					return true // the rest may follow the segment
				}
			}
		}
		return at >= to || put(at, 0)
	}
	for _, s := range b.segments {
		b.step(1)
		end := s.from + uint64(s.size)
		if end <= at {
			continue
		}
		if s.from > at && !fill(s.from) {
			return
		}
		at = max(at, s.from)
		if !put(at, s.site) {
			return
		}
		at = end
	}
	fill(1<<64 - 1)
}

func (b *builder) codeEnd(address uint64) uint64 {
	for _, c := range b.code {
		if c.from <= address && address < c.to {
			return c.to
		}
	}
	return address + 1
}

// entryBytes is the memory of a site, a segment or a symbol.
const entryBytes = 16
