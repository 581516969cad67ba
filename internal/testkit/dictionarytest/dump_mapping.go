// SPDX-License-Identifier: Apache-2.0

package dictionarytest

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// mappingLines prints the mappings that the profile's frames refer to and names them for the frame
// lines.
//
// The name is the last part of the file's path, with a number if several mappings share it. The
// order depends on the content and not on first use: a new sample must not rename the mappings of
// others.
func (d *dumper) mappingLines(p pprofile.Profile) {
	d.mappings = map[dictionary.MappingIndex]string{}
	var list []printedMapping
	for _, i := range d.mappingsOf(p) {
		if !valid(i, d.dict.MappingTable().Len()) {
			d.mappings[i] = fmt.Sprintf("!mapping %d", i)
			continue
		}
		list = append(list, d.printMapping(i))
	}
	slices.SortFunc(list, func(a, b printedMapping) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.start, b.start), strings.Compare(a.text, b.text))
	})
	count := map[string]int{}
	for _, m := range list {
		name := mappingName(m.file)
		if count[name]++; count[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, count[name])
		}
		d.mappings[m.index] = name
		d.line(1, "mapping %s = %s", name, m.text)
		for _, a := range m.attributes {
			d.line(2, "%s = %s", a.key, a.value)
		}
	}
}

type printedMapping struct {
	index      dictionary.MappingIndex
	file       string
	start      uint64
	text       string
	attributes []printedAttribute
}

func (d *dumper) printMapping(i dictionary.MappingIndex) printedMapping {
	m := d.dict.MappingTable().At(int(i))
	file, _ := d.view.String(dictionary.StringIndex(m.FilenameStrindex()))
	text := fmt.Sprintf("%s %#x-%#x", d.text(m.FilenameStrindex()), m.MemoryStart(), m.MemoryLimit())
	if m.FileOffset() != 0 {
		text += fmt.Sprintf(" offset %#x", m.FileOffset())
	}
	return printedMapping{
		index: i, file: file, start: m.MemoryStart(),
		text: text, attributes: d.sortedAttributes(m.AttributeIndices()),
	}
}

// mappingsOf returns every mapping in use once, in the order of the table.
func (d *dumper) mappingsOf(p pprofile.Profile) []dictionary.MappingIndex {
	var list []dictionary.MappingIndex
	seen := make([]bool, d.dict.StackTable().Len())
	for _, s := range p.Samples().All() {
		if i := s.StackIndex(); i == 0 || !valid(i, len(seen)) || seen[i] {
			continue
		}
		seen[s.StackIndex()] = true
		for _, l := range d.dict.StackTable().At(int(s.StackIndex())).LocationIndices().All() {
			if l == 0 || !valid(l, d.dict.LocationTable().Len()) {
				continue
			}
			if m := d.dict.LocationTable().At(int(l)).MappingIndex(); m != 0 {
				list = append(list, dictionary.MappingIndex(m))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// mappingName returns the last part of a path, including Windows paths. A name with "#" is quoted
// to distinguish it from a numbered name.
func mappingName(file string) string {
	if i := strings.LastIndexByte(file, '\\'); i >= 0 {
		file = file[i+1:]
	}
	if file == "" || strings.HasSuffix(file, "/") {
		return "unnamed"
	}
	name := quoteName(path.Base(file))
	if strings.Contains(name, "#") && name[0] != '"' {
		return strconv.Quote(name)
	}
	return name
}
