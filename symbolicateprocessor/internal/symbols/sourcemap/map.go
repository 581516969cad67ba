// SPDX-License-Identifier: Apache-2.0

// Package sourcemap reads source maps (ECMA-426: version 3, and index maps) and finds the function
// of a place in a minified JavaScript file.
//
//	read.go     the JSON of a map → Map
//	mappings.go the VLQ text → tokens
//	tokens.go   tokens in little memory, with lookup by binary search
//	scan.go     JavaScript → tokens of the language
//	scopes.go   JavaScript → where functions begin and end, and which text names them
//	metadata.go what Metro states about functions
//	file.go     both together: place → function, file, line
//	link.go     debug IDs and URLs in JavaScript files
//
// Of the Go libraries for source maps, github.com/go-sourcemap/sourcemap keeps 24 bytes per mapping
// and the text of all sources: a map of 50 MB that consists of mappings (9 million) took 584 MiB.
// This package needs 7 to 9 bytes per mapping and skips the text.
//
// Reading claims memory before it allocates it (see Limits), and no number in a file decides about
// an allocation. A lookup takes logarithmic time in the number of mappings and functions.
package sourcemap

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// Limits are the work and the memory for a map and its script, per byte of both. Minified bundles
// need a fifth: 3 bytes of memory per byte of mappings, 100 bytes per function.
var Limits = symbols.Limits{Steps: 32, Memory: 4}

// Map is a source map: places in a generated file → places in its sources. It is immutable.
type Map struct {
	DebugID string // as written in the map; empty without one

	sources texts
	names   texts
	ignored []bool // by source, up to the last section with a list
	tokens  tokens

	metadata metadata
	// dart: dart2js names each mapping after the function that it is in, instead of the identifier
	// (https://github.com/dart-lang/sdk/blob/main/pkg/compiler/doc/sourcemap_extensions.md).
	dart bool
}

// Position is a place in a source.
type Position struct {
	Source       string
	Line, Column uint32 // from 0
	Name         string // the original text at the place if the generated one differs; empty if the map has none
	Ignored      bool   // the map lists the source as third-party code
}

// Lookup returns the source of a place, which counts from 0, columns in UTF-16 units. It reports
// false for places that belong to no source. A mapping ends with its line.
func (m *Map) Lookup(line, column uint32) (Position, bool) {
	t, ok := m.tokens.find(line, column)
	if !ok || t.source < 0 {
		return Position{}, false
	}
	return m.position(t), true
}

// functionAt returns the original function at a place, if the map contains functions instead of the
// original names of identifiers.
func (m *Map) functionAt(line, column uint32) (name string, stated bool) {
	t, ok := m.tokens.find(line, column)
	switch {
	case !ok || t.source < 0:
		return "", false
	case m.dart && t.name >= 0:
		return clip(m.names.at(int(t.name))), true
	}
	return m.metadata.function(t.source, place{t.sourceLine, t.sourceColumn})
}

// nameAt returns the name of the mapping that starts exactly at a place.
func (m *Map) nameAt(line, column uint32) string {
	if i := m.nameIndexAt(line, column); i >= 0 {
		return m.names.at(int(i))
	}
	return ""
}

// nameIndexAt returns the index of the name, or -1 for none or the empty one.
func (m *Map) nameIndexAt(line, column uint32) int32 {
	t, ok := m.tokens.find(line, column)
	if !ok || t.line != line || t.column != column || t.name < 0 || m.names.at(int(t.name)) == "" {
		return -1
	}
	return t.name
}

func (m *Map) position(t token) Position {
	p := Position{Source: m.sources.at(int(t.source)), Line: t.sourceLine, Column: t.sourceColumn, Ignored: int(t.source) < len(m.ignored) && m.ignored[t.source]}
	if t.name >= 0 {
		p.Name = m.names.at(int(t.name))
	}
	return p
}

// Bytes returns the approximate memory of the map.
func (m *Map) Bytes() int64 {
	return int64(len(m.ignored)) + m.sources.bytes() + m.names.bytes() + m.tokens.bytes() + m.metadata.bytes()
}

// texts is a list of strings in one piece of memory.
type texts struct {
	text     strings.Builder
	ends     []uint32
	reserved int64 // memory that is claimed and not used yet
}

// textBytes is the memory of a text, apart from its bytes.
const textBytes = 4

// reserve claims the memory of texts that follow. The first call allocates it: growing later copies
// everything.
func (t *texts) reserve(work *symbols.Work, count, bytes int) error {
	n := textBytes*int64(count) + int64(bytes)
	if err := work.Claim(n); err != nil {
		return err
	}
	t.reserved += n
	if t.ends == nil {
		t.text.Grow(bytes)
		t.ends = make([]uint32, 0, count)
	}
	return nil
}

// add adds a text, of parts. It claims the memory that is not reserved.
func (t *texts) add(work *symbols.Work, parts ...string) error {
	t.reserved -= textBytes
	for _, s := range parts {
		t.reserved -= int64(len(s))
	}
	if t.reserved < 0 {
		if err := work.Claim(-t.reserved); err != nil {
			return err
		}
		t.reserved = 0
	}
	for _, s := range parts {
		t.text.WriteString(s)
	}
	t.ends = append(t.ends, uint32(t.text.Len()))
	return nil
}

func (t *texts) len() int { return len(t.ends) }

// at returns a string that shares the memory of the list.
func (t *texts) at(i int) string {
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.text.String()[start:t.ends[i]]
}

func (t *texts) bytes() int64 { return int64(t.text.Cap()) + 4*int64(cap(t.ends)) }
