// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	// maxFile bounds maps and JavaScript files, because positions are 32 bits. The largest maps in
	// use have some 50 MB.
	maxFile = 512 << 20

	// maxTexts bounds sources and names: an element of a list needs three bytes of the file and
	// four more in memory.
	maxTexts = 1 << 22

	maxSections = 1 << 16

	// maxSourceText bounds a long sourceRoot in front of many sources.
	maxSourceText = 64 << 20
)

// document is the JSON of a map or of a section. Other fields, among them sourcesContent, are
// skipped.
type document struct {
	Version    json.Number  `json:"version"`
	SourceRoot *string      `json:"sourceRoot"`
	Sources    textList     `json:"sources"`
	Names      textList     `json:"names"`
	Mappings   mappingsText `json:"mappings"`
	Sections   sectionList  `json:"sections"`

	IgnoreList    []uint32 `json:"ignoreList"`
	OldIgnoreList []uint32 `json:"x_google_ignoreList"`

	DebugIDSnake string `json:"debug_id"` // the bundlers' plugins
	DebugID      string `json:"debugId"`  // ECMA-426
}

type section struct {
	Offset struct{ Line, Column uint32 } `json:"offset"`
	Map    *document                     `json:"map"`
}

// Read reads a map. It refuses input that needs more memory than a few times its size.
func Read(data []byte) (*Map, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("source map: has %d bytes, at most %d are read", len(data), maxFile)
	}
	var doc document
	if err := json.Unmarshal(withoutGuard(data), &doc); err != nil {
		return nil, fmt.Errorf("source map: %w", err)
	}
	m := &Map{DebugID: doc.DebugIDSnake}
	if m.DebugID == "" {
		m.DebugID = doc.DebugID
	}
	if err := m.addSections(&doc); err != nil {
		return nil, fmt.Errorf("source map: %w", err)
	}
	return m, nil
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

func (m *Map) addSections(doc *document) error {
	if v := doc.Version; v != "" && v != "3" {
		return fmt.Errorf("version is %s, must be 3", v)
	}
	if doc.Sections == nil {
		return m.addSection(doc, place{})
	}
	if doc.Mappings != nil {
		return errors.New("has mappings and sections")
	}
	for i, s := range doc.Sections {
		switch {
		case s.Map == nil:
			return fmt.Errorf("sections[%d]: has no map; maps in other files are not read", i)
		case s.Map.Sections != nil:
			return fmt.Errorf("sections[%d]: has sections itself", i)
		}
		if err := m.addSection(s.Map, place{s.Offset.Line, s.Offset.Column}); err != nil {
			return fmt.Errorf("sections[%d]: %w", i, err)
		}
	}
	return nil
}

func (m *Map) addSection(doc *document, offset place) error {
	sources, names := int32(m.sources.len()), int32(m.names.len())
	if len(doc.Sources)+m.sources.len() > maxTexts || len(doc.Names)+m.names.len() > maxTexts {
		return fmt.Errorf("more than %d sources or names", maxTexts)
	}
	for _, source := range doc.Sources {
		m.sources.add(withRoot(doc.SourceRoot, source))
		if m.sources.bytes() > maxSourceText {
			return fmt.Errorf("sources have more than %d bytes", maxSourceText)
		}
	}
	for _, name := range doc.Names {
		m.names.add(name)
	}
	for _, i := range append(doc.IgnoreList, doc.OldIgnoreList...) {
		if int(i) < len(doc.Sources) {
			m.ignored = append(m.ignored, make([]bool, m.sources.len()-len(m.ignored))...)
			m.ignored[sources+int32(i)] = true
		}
	}
	if m.ignored != nil {
		m.ignored = append(m.ignored, make([]bool, m.sources.len()-len(m.ignored))...)
	}
	count := func(list textList) int32 { return int32(len(list)) }
	return decodeMappings(doc.Mappings, offset, &m.tokens, func(t *token) error {
		if t.source >= count(doc.Sources) || t.name >= count(doc.Names) {
			return fmt.Errorf("a mapping refers to source %d of %d and name %d of %d", t.source, count(doc.Sources), t.name, count(doc.Names))
		}
		if t.source >= 0 {
			t.source += sources
		}
		if t.name >= 0 {
			t.name += names
		}
		return nil
	})
}

// withRoot prepends sourceRoot to a relative source, as Sentry does: with a slash.
func withRoot(root *string, source string) string {
	if root == nil || *root == "" || strings.HasPrefix(source, "/") || strings.HasPrefix(source, "http:") || strings.HasPrefix(source, "https:") {
		return source
	}
	return strings.TrimRight(*root, "/") + "/" + source
}

// textList is a list of strings. Old tools write numbers and null, too.
type textList []string

func (l *textList) UnmarshalJSON(raw []byte) error {
	return eachElement(raw, maxTexts, func(d *json.Decoder) error {
		var element any
		if err := d.Decode(&element); err != nil {
			return err
		}
		switch v := element.(type) {
		case nil:
			*l = append(*l, "")
		case string:
			*l = append(*l, v)
		case json.Number:
			*l = append(*l, v.String())
		default:
			return fmt.Errorf("sources and names must be text, one is %T", v)
		}
		return nil
	})
}

// sectionList is bounded while it is read.
type sectionList []section

func (l *sectionList) UnmarshalJSON(raw []byte) error {
	*l = sectionList{}
	return eachElement(raw, maxSections, func(d *json.Decoder) error {
		var s section
		err := d.Decode(&s)
		if s.Map != nil {
			s.Map.Mappings = bytes.Clone(s.Map.Mappings) // the decoder reuses its memory
		}
		*l = append(*l, s)
		return err
	})
}

// eachElement visits the elements of a JSON list, at most limit.
func eachElement(raw []byte, limit int, visit func(*json.Decoder) error) error {
	if string(raw) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return errors.New("sources, names and sections must be lists")
	}
	for n := 0; d.More(); n++ {
		if n == limit {
			return fmt.Errorf("a list has more than %d elements", limit)
		}
		if err := visit(d); err != nil {
			return err
		}
	}
	return nil
}

// mappingsText is the text between the quotes. Its alphabet needs no escapes. It shares the memory
// of the JSON: it is half of a map.
type mappingsText []byte

func (t *mappingsText) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	if len(raw) < 2 || raw[0] != '"' {
		return errors.New("mappings must be text")
	}
	*t = raw[1 : len(raw)-1]
	return nil
}
