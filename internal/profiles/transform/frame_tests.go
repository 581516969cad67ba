// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"regexp"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// frameTests are the patterns of Frames. Each text of a message is matched once, regardless of how
// many frames refer to it. Otherwise, a function name of 500 kB with a hundred thousand lines took
// a minute. Unlike RE2, Go has no pattern sets, and an alternation of all patterns is not faster.
type frameTests struct {
	function, file, binary textTests[dictionary.StringIndex]
	module, relative       textTests[dictionary.AttributeIndex]
}

func newFrameTests(m *message, tests []FrameMatch) *frameTests {
	patterns := func(of func(FrameMatch) *regexp.Regexp) (all []*regexp.Regexp) {
		for _, test := range tests {
			all = append(all, of(test))
		}
		return all
	}
	functions := patterns(func(test FrameMatch) *regexp.Regexp { return test.Function })
	files := patterns(func(test FrameMatch) *regexp.Regexp { return test.File })
	modules := patterns(func(test FrameMatch) *regexp.Regexp { return test.Module })
	value := func(i dictionary.AttributeIndex) string {
		a, _ := m.view.Attribute(i)
		return a.Value.AsString()
	}
	strings, attributes := m.profiles.Dictionary().StringTable().Len(), m.profiles.Dictionary().AttributeTable().Len()
	return &frameTests{
		function: newTextTests(functions, strings, m.view.Text),
		file:     newTextTests(files, strings, m.view.Text),
		binary:   newTextTests(modules, strings, m.view.Text),
		module:   newTextTests(modules, attributes, value),
		relative: newTextTests(files, attributes, value),
	}
}

// matches are the results of the tests for one text.
type matches []bool

// textTests are the patterns for one kind of text, with cached results by table index.
type textTests[I ~int32] struct {
	patterns []*regexp.Regexp // nil matches everything
	results  []matches
	always   matches // used if all patterns are nil
	text     func(I) string
}

func newTextTests[I ~int32](patterns []*regexp.Regexp, table int, text func(I) string) textTests[I] {
	t := textTests[I]{patterns: patterns, text: text, always: make(matches, len(patterns))}
	for i, pattern := range patterns {
		if t.always[i] = pattern == nil; pattern != nil {
			t.results = make([]matches, table)
		}
	}
	return t
}

// matchesOf returns the results for a text.
func (t *textTests[I]) matchesOf(i I) matches {
	if t.results == nil {
		return t.always
	}
	if t.results[i] == nil {
		t.results[i] = make(matches, len(t.patterns))
		text := t.text(i)
		for j, pattern := range t.patterns {
			t.results[i][j] = pattern == nil || pattern.MatchString(text)
		}
	}
	return t.results[i]
}
