// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

const (
	// maxFile bounds maps and JavaScript files, because positions are 32 bits. The largest maps in
	// use have some 50 MB.
	maxFile = 512 << 20

	// maxTexts bounds sources and names.
	maxTexts = 1 << 22

	maxSections = 1 << 16

	// maxRoot bounds a sourceRoot, which precedes each source, and maxVersion and maxID fields that
	// are a few characters long.
	maxRoot    = 4096
	maxVersion = 16
	maxID      = 128
)

// document is the JSON of a map or of a section. Other fields, among them sourcesContent, are
// skipped.
type document struct {
	Version    raw `json:"version"`
	SourceRoot raw `json:"sourceRoot"`
	Sources    raw `json:"sources"`
	Names      raw `json:"names"`
	Mappings   raw `json:"mappings"`
	Sections   raw `json:"sections"`

	FacebookSources raw `json:"x_facebook_sources"`     // Metro
	Dart2JS         raw `json:"x_org_dartlang_dart2js"` // Dart

	IgnoreList    raw `json:"ignoreList"`
	OldIgnoreList raw `json:"x_google_ignoreList"`

	DebugIDSnake raw `json:"debug_id"` // the bundlers' plugins
	DebugID      raw `json:"debugId"`  // ECMA-426
}

type section struct {
	Offset struct{ Line, Column uint32 } `json:"offset"`
	Map    *document                     `json:"map"`
}

// raw is the text of a valid JSON value; nil for null. It shares the memory of the JSON, and its
// values are read one at a time: a list of a million zeros is not a list of a million strings.
type raw []byte

func (r *raw) UnmarshalJSON(text []byte) error {
	if *r = text; string(text) == "null" {
		*r = nil
	}
	return nil
}

// Read reads a map, within the limits of the work. The map does not refer to data.
func Read(work *symbols.Work, data []byte) (*Map, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("source map: has %d bytes, at most %d are read", len(data), maxFile)
	}
	var doc document
	if err := unmarshal(work, withoutGuard(data), &doc); err != nil {
		return nil, fmt.Errorf("source map: %w", err)
	}
	m := &Map{DebugID: cmp.Or(shortText(doc.DebugIDSnake, maxID), shortText(doc.DebugID, maxID))}
	if err := m.addSections(work, &doc); err != nil {
		return nil, fmt.Errorf("source map: %w", err)
	}
	m.tokens.finish()
	return m, nil
}

// unmarshal decodes JSON. It visits the text twice.
func unmarshal(work *symbols.Work, text []byte, into any) error {
	if err := work.Step(2 * len(text)); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// shortText returns a string, or "" if the value is longer than a limit or no string.
func shortText(value raw, limit int) (s string) {
	if len(value) <= limit && json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// withoutGuard cuts a first line such as )]}', with which servers keep pages from running JSON as a
// script.
func withoutGuard(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(data, []byte(")]}")) {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return data
}

func (m *Map) addSections(work *symbols.Work, doc *document) error {
	if v := string(doc.Version[:min(len(doc.Version), maxVersion)]); v != "" && v != "3" && v != `"3"` {
		return fmt.Errorf("version is %s, must be 3", v)
	}
	if doc.Sections == nil {
		return m.addSection(work, doc, place{})
	}
	if doc.Mappings != nil {
		return errors.New("has mappings and sections")
	}
	i := -1
	return eachElement(doc.Sections, func(text []byte) error {
		if i++; i == maxSections {
			return fmt.Errorf("more than %d sections", maxSections)
		}
		var s section
		err := unmarshal(work, text, &s)
		switch {
		case err != nil:
		case s.Map == nil:
			err = errors.New("has no map; maps in other files are not read")
		case s.Map.Sections != nil:
			err = errors.New("has sections itself")
		case max(s.Offset.Line, s.Offset.Column) > math.MaxInt32:
			err = fmt.Errorf("starts at %d:%d", s.Offset.Line, s.Offset.Column)
		default:
			err = m.addSection(work, s.Map, place{s.Offset.Line, s.Offset.Column})
		}
		if err != nil {
			return fmt.Errorf("sections[%d]: %w", i, err)
		}
		return nil
	})
}

func (m *Map) addSection(work *symbols.Work, doc *document, offset place) error {
	var root string
	if doc.SourceRoot != nil {
		if len(doc.SourceRoot) > maxRoot {
			return fmt.Errorf("sourceRoot has more than %d bytes", maxRoot)
		}
		if err := json.Unmarshal(doc.SourceRoot, &root); err != nil {
			return fmt.Errorf("sourceRoot: %w", err)
		}
		if root != "" {
			root = strings.TrimRight(root, "/") + "/"
		}
	}
	beforeSources, beforeNames := m.sources.len(), m.names.len()
	if err := m.sources.addList(work, doc.Sources, func(source string) string { return prefixOf(root, source) }); err != nil {
		return fmt.Errorf("sources: %w", err)
	}
	if err := m.names.addList(work, doc.Names, func(string) string { return "" }); err != nil {
		return fmt.Errorf("names: %w", err)
	}
	if err := m.ignore(work, doc, beforeSources); err != nil {
		return err
	}
	if err := m.addMetadata(work, doc.FacebookSources, beforeSources); err != nil {
		return fmt.Errorf("x_facebook_sources: %w", err)
	}
	m.dart = m.dart || doc.Dart2JS != nil
	sources, names := int32(m.sources.len()-beforeSources), int32(m.names.len()-beforeNames)
	mappings, err := mappingsOf(doc.Mappings)
	if err != nil {
		return err
	}
	return decodeMappings(work, mappings, offset, &m.tokens, func(t *token) error {
		if t.source >= sources || t.name >= names {
			return fmt.Errorf("a mapping refers to source %d of %d and name %d of %d", t.source, sources, t.name, names)
		}
		if t.source >= 0 {
			t.source += int32(beforeSources)
		}
		if t.name >= 0 {
			t.name += int32(beforeNames)
		}
		return nil
	})
}

// ignore reads the lists of sources to ignore.
func (m *Map) ignore(work *symbols.Work, doc *document, before int) error {
	for _, list := range []raw{doc.IgnoreList, doc.OldIgnoreList} {
		err := eachElement(list, func(text []byte) error {
			i, err := strconv.ParseUint(string(text[:min(len(text), maxID)]), 10, 32)
			if err != nil {
				return err
			}
			return m.ignoreSource(work, before, i)
		})
		if err != nil {
			return fmt.Errorf("ignoreList: %w", err)
		}
	}
	return nil
}

// ignoreSource sets the mark of a source of the section whose sources start at before. Numbers
// beyond the sources have no effect.
func (m *Map) ignoreSource(work *symbols.Work, before int, i uint64) error {
	if i >= uint64(m.sources.len()-before) {
		return nil
	}
	if missing := m.sources.len() - len(m.ignored); missing > 0 {
		if err := work.Claim(int64(missing)); err != nil {
			return err
		}
		m.ignored = append(m.ignored, make([]bool, missing)...)
	}
	m.ignored[before+int(i)] = true
	return nil
}

// prefixOf returns what precedes a source: sourceRoot for a relative one, as Sentry does, with a
// slash.
func prefixOf(root, source string) string {
	if root == "" || strings.HasPrefix(source, "/") || strings.HasPrefix(source, "http:") || strings.HasPrefix(source, "https:") {
		return ""
	}
	return root
}

// addList adds the elements of a list of strings, with a prefix. Old tools write numbers and null,
// too.
func (t *texts) addList(work *symbols.Work, list raw, prefix func(string) string) error {
	count, bytes := 0, 0
	if err := eachElement(list, func(element []byte) error {
		count, bytes = count+1, bytes+len(element)
		return nil
	}); err != nil {
		return err
	}
	if err := work.Step(2 * len(list)); err != nil {
		return err
	}
	if count > maxTexts-t.len() {
		return fmt.Errorf("more than %d sources or names", maxTexts)
	}
	if err := t.reserve(work, count, max(bytes-2*count, 0)); err != nil { // most have quotes
		return err
	}
	return eachElement(list, func(element []byte) error {
		s, err := textOf(work, element)
		if err != nil {
			return err
		}
		return t.add(work, prefix(s), s)
	})
}

// textOf returns a string, or a number as text. The result may share the memory of the element.
func textOf(work *symbols.Work, element []byte) (s string, err error) {
	switch element[0] {
	case 'n': // null
		return "", nil
	case '"':
		inner := element[1 : len(element)-1]
		if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
			return unsafe.String(unsafe.SliceData(inner), len(inner)), nil
		}
		if err := work.Claim(3 * int64(len(element))); err != nil { // an invalid byte becomes three
			return "", err
		}
		defer work.Free(3 * int64(len(element)))
		return s, json.Unmarshal(element, &s)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return unsafe.String(unsafe.SliceData(element), len(element)), nil
	}
	return "", errors.New("must be text")
}

// eachElement visits the elements of a list in valid JSON, or of no list.
func eachElement(list raw, visit func(element []byte) error) error {
	if list == nil {
		return nil
	}
	if list[0] != '[' {
		return errors.New("must be a list")
	}
	for i := 1; ; {
		i += leadingSpace(list[i:])
		switch list[i] {
		case ']':
			return nil
		case ',':
			i++
			continue
		}
		n := valueLength(list[i:])
		if err := visit(list[i : i+n]); err != nil {
			return err
		}
		i += n
	}
}

func leadingSpace(text []byte) (n int) {
	for text[n] == ' ' || text[n] == '\n' || text[n] == '\t' || text[n] == '\r' {
		n++
	}
	return n
}

// valueLength returns the length of the first value in valid JSON.
func valueLength(text []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 { // the end of the list, after a number
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
	}
}

// mappingsOf returns the text between the quotes. Its alphabet needs no escapes.
func mappingsOf(value raw) ([]byte, error) {
	if value == nil {
		return nil, nil
	}
	if value[0] != '"' {
		return nil, errors.New("mappings must be text")
	}
	return value[1 : len(value)-1], nil
}
