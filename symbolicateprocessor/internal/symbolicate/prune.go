// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// prune removes the functions, attributes and strings of a message to which nothing refers. The
// last entries of a table move into the gaps. Locations, stacks, mappings and links stay as they
// are.
//
// It is much cheaper than [dictionary.Compact], because it compares no entries.
func prune(p pprofile.Profiles) {
	d := p.Dictionary()
	pruneFunctions(d)
	pruneAttributes(p)
	pruneStrings(p)
}

// places has the new position of each entry of a table, or -1 for an entry without references.
type places []int32

func newPlaces(n int) places {
	t := make(places, n)
	for i := range t {
		t[i] = -1
	}
	return t
}

// use records a reference. Broken references have no effect.
func (t places) use(i int32) {
	if i >= 0 && int(i) < len(t) {
		t[i] = i
	}
}

func (t places) useAll(list pcommon.Int32Slice) {
	for j := range list.Len() {
		t.use(list.At(j))
	}
}

// fill calls move for the last entries, until there are no gaps, and returns the number of entries
// that remain. Entry 0 always remains.
func (t places) fill(move func(from, to int)) int {
	n := len(t)
	for gap := 1; gap < n; gap++ {
		if t[gap] >= 0 {
			continue
		}
		for n--; n > gap && t[n] < 0; n-- {
		}
		if n > gap {
			move(n, gap)
			t[n] = int32(gap)
		}
	}
	return n
}

// of returns the new position of an entry.
func (t places) of(i int32) int32 {
	if i <= 0 || int(i) >= len(t) {
		return i
	}
	return t[i]
}

func (t places) update(list pcommon.Int32Slice) {
	for j := range list.Len() {
		if old := list.At(j); t.of(old) != old {
			list.SetAt(j, t.of(old))
		}
	}
}

func pruneFunctions(d pprofile.ProfilesDictionary) {
	table, locations := d.FunctionTable(), d.LocationTable()
	t := newPlaces(table.Len())
	for i := range locations.Len() {
		lines := locations.At(i).Lines()
		for j := range lines.Len() {
			t.use(lines.At(j).FunctionIndex())
		}
	}
	n := t.fill(func(from, to int) { table.At(from).MoveTo(table.At(to)) })
	if n == table.Len() {
		return
	}
	table.RemoveIf(after[pprofile.Function](n))
	for i := range locations.Len() {
		lines := locations.At(i).Lines()
		for j := range lines.Len() {
			line := lines.At(j)
			line.SetFunctionIndex(t.of(line.FunctionIndex()))
		}
	}
}

func pruneAttributes(p pprofile.Profiles) {
	d := p.Dictionary()
	table := d.AttributeTable()
	t := newPlaces(table.Len())
	eachAttributeList(p, t.useAll)
	n := t.fill(func(from, to int) { table.At(from).MoveTo(table.At(to)) })
	if n == table.Len() {
		return
	}
	table.RemoveIf(after[pprofile.KeyValueAndUnit](n))
	eachAttributeList(p, t.update)
}

func eachAttributeList(p pprofile.Profiles, visit func(pcommon.Int32Slice)) {
	d := p.Dictionary()
	for i := range d.LocationTable().Len() {
		visit(d.LocationTable().At(i).AttributeIndices())
	}
	for i := range d.MappingTable().Len() {
		visit(d.MappingTable().At(i).AttributeIndices())
	}
	eachProfile(p, func(_ pcommon.Resource, _ string, profile pprofile.Profile) {
		visit(profile.AttributeIndices())
		for j := range profile.Samples().Len() {
			visit(profile.Samples().At(j).AttributeIndices())
		}
	})
}

func pruneStrings(p pprofile.Profiles) {
	table := p.Dictionary().StringTable()
	t := newPlaces(table.Len())
	eachString(p, func(i int32) int32 {
		t.use(i)
		return i
	})
	n := t.fill(func(from, to int) { table.SetAt(to, table.At(from)) })
	if n == table.Len() {
		return
	}
	table.RemoveIf(after[string](n))
	eachString(p, t.of)
}

// eachString replaces the references to strings.
func eachString(p pprofile.Profiles, replace func(int32) int32) {
	d := p.Dictionary()
	for i := range d.FunctionTable().Len() {
		f := d.FunctionTable().At(i)
		f.SetNameStrindex(replace(f.NameStrindex()))
		f.SetSystemNameStrindex(replace(f.SystemNameStrindex()))
		f.SetFilenameStrindex(replace(f.FilenameStrindex()))
	}
	for i := range d.AttributeTable().Len() {
		a := d.AttributeTable().At(i)
		a.SetKeyStrindex(replace(a.KeyStrindex()))
		a.SetUnitStrindex(replace(a.UnitStrindex()))
	}
	for i := range d.MappingTable().Len() {
		m := d.MappingTable().At(i)
		m.SetFilenameStrindex(replace(m.FilenameStrindex()))
	}
	eachProfile(p, func(_ pcommon.Resource, _ string, profile pprofile.Profile) {
		for _, typ := range []pprofile.ValueType{profile.SampleType(), profile.PeriodType()} {
			typ.SetTypeStrindex(replace(typ.TypeStrindex()))
			typ.SetUnitStrindex(replace(typ.UnitStrindex()))
		}
	})
}

// after returns a function that reports whether an entry, visited in order, is at position n or
// later.
func after[T any](n int) func(T) bool {
	i := 0
	return func(T) bool {
		i++
		return i > n
	}
}
