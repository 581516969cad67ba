// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"errors"
	"math"
	"sort"
	"unsafe"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// metadata has the functions that Metro finds in sources (x_facebook_sources, see
// metro-source-map/src/generateFunctionMap.js): the places where they begin, and where the one
// around them continues.
type metadata struct {
	names  texts
	starts [][]functionStart // by source, in order; sources beyond the list have none
}

type functionStart struct {
	at   place // in the source
	name int32
}

const startBytes, listBytes = int64(unsafe.Sizeof(functionStart{})), int64(unsafe.Sizeof([]functionStart{}))

// Names of functions that have none.
const (
	metroGlobal    = "<global>" // the source itself
	metroAnonymous = "<anonymous>"
)

// addMetadata reads the list of a section whose sources start at before: for each source null, or a
// list that starts with the map of its functions.
func (m *Map) addMetadata(work *symbols.Work, list raw, before int) error {
	if list == nil {
		return nil
	}
	if err := work.Step(2 * len(list)); err != nil { // the list, and the list of each source
		return err
	}
	source := before
	return eachElement(list, func(element []byte) error {
		if source == m.sources.len() {
			return nil
		}
		source++
		if element[0] != '[' {
			return nil
		}
		first := true
		return eachElement(element, func(functions []byte) error {
			if !first || functions[0] != '{' {
				first = false
				return nil
			}
			first = false
			return m.metadata.add(work, functions, source-1)
		})
	})
}

// add adds the functions of a source. It ignores damaged maps.
func (m *metadata) add(work *symbols.Work, text []byte, source int) error {
	var functions struct {
		Names    raw `json:"names"`
		Mappings raw `json:"mappings"`
	}
	if err := unmarshal(work, text, &functions); err != nil {
		return err
	}
	mappings, err := mappingsOf(functions.Mappings)
	if err != nil {
		return err
	}
	names := m.names.len()
	if err := m.names.addList(work, functions.Names, func(string) string { return "" }); err != nil {
		return err
	}
	count, _ := countTokens(mappings)
	missing := source + 1 - len(m.starts)
	if err := work.Claim(startBytes*int64(count) + listBytes*int64(missing)); err != nil {
		return err
	}
	m.starts = append(m.starts, make([][]functionStart, missing)...)
	if starts, err := decodeStarts(work, make([]functionStart, 0, count), mappings, names, m.names.len()); err == nil {
		m.starts[source] = starts
	}
	return work.Err()
}

var errDamagedStarts = errors.New("a place is out of range or not in order")

// decodeStarts appends the places of a map: differences of the column, which restarts after a
// semicolon, of the name, and of the line, which counts from 1.
func decodeStarts(work *symbols.Work, starts []functionStart, text []byte, first, end int) ([]functionStart, error) {
	group, line, column, name := 0, int64(0), int64(0), int64(first)
	err := eachSegment(work, text, func(_, of, n int, fields *[maxFields]int64) error {
		if of != group {
			group, column = of, 0
		}
		column, name, line = column+fields[0], name+fields[1], line+fields[2]
		if n > 3 || min(line, column) < 0 || max(line, column) > math.MaxInt32 || name < int64(first) || name >= int64(end) {
			return errDamagedStarts
		}
		at := place{uint32(line), uint32(column)}
		if len(starts) > 0 && starts[len(starts)-1].at.compare(at) > 0 {
			return errDamagedStarts
		}
		starts = append(starts, functionStart{at, int32(name)})
		return nil
	})
	return starts, err
}

// function returns the function around a place in a source.
func (m *metadata) function(source int32, at place) (name string, stated bool) {
	if int(source) >= len(m.starts) {
		return "", false
	}
	starts := m.starts[source]
	i := sort.Search(len(starts), func(i int) bool { return starts[i].at.compare(at) > 0 }) - 1
	if i < 0 {
		return "", false
	}
	switch name = m.names.at(int(starts[i].name)); name {
	case metroGlobal, metroAnonymous:
		return "", true
	}
	return clip(name), true
}

func (m *metadata) bytes() int64 {
	bytes := m.names.bytes() + listBytes*int64(cap(m.starts))
	for _, starts := range m.starts {
		bytes += startBytes * int64(cap(starts))
	}
	return bytes
}
