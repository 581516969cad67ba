// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// keyTable stores the key of every entry of the attribute table, so that each entry is looked up
// only once, not per sample or frame.
type keyTable struct {
	table pprofile.KeyValueAndUnitSlice
	keys  []string         // "" for entry 0 and for unusable entries
	texts map[int32]string // of entries with long texts or other types: many samples and frames may refer to one
}

// readKeys reuses the memory of keys.
func readKeys(view dictionary.View, d pprofile.ProfilesDictionary, keys []string) keyTable {
	n := d.AttributeTable().Len()
	t := keyTable{table: d.AttributeTable(), keys: slices.Grow(keys[:0], n)[:n], texts: map[int32]string{}}
	for i := range n {
		t.keys[i] = ""
		if i > 0 {
			t.keys[i] = view.Text(dictionary.StringIndex(t.table.At(i).KeyStrindex()))
		}
	}
	return t
}

// key returns "" for entry 0 and for indices outside the table.
func (t *keyTable) key(index int32) string {
	if index <= 0 || int(index) >= len(t.keys) {
		return ""
	}
	return t.keys[index]
}

func (t *keyTable) value(index int32) pcommon.Value { return t.table.At(int(index)).Value() }

// text returns the value of an entry as text; numbers are decimal.
func (t *keyTable) text(index int32) string {
	value := t.value(index)
	if value.Type() == pcommon.ValueTypeStr && len(value.Str()) <= attr.MaxFrameText {
		return value.Str()
	}
	text, known := t.texts[index]
	if !known {
		text = attr.Clip(value.AsString(), attr.MaxFrameText)
		t.texts[index] = text
	}
	return text
}

// memo caches results by index of a table. clear invalidates all of them in constant time.
type memo[T any] struct {
	results    []T
	generation []uint32
	current    uint32
}

// open prepares the cache for a table of n entries. Index 0 is valid even if the table is empty.
func (m *memo[T]) open(n int) {
	m.results = slices.Grow(m.results[:0], n+1)[:n+1]
	m.generation = slices.Grow(m.generation[:0], n+1)[:n+1]
	clear(m.generation)
	m.current = 0
}

// close drops the results and keeps the memory.
func (m *memo[T]) close() { clear(m.results[:cap(m.results)]) }

func (m *memo[T]) len() int { return len(m.results) - 1 }

// cap returns the number of entries for which there is memory.
func (m *memo[T]) cap() int { return cap(m.results) }

// clear invalidates all results. It must be called after open, before the first get.
func (m *memo[T]) clear() { m.current++ }

func (m *memo[T]) get(index int) (result T, ok bool) {
	return m.results[index], m.generation[index] == m.current
}

func (m *memo[T]) set(index int, result T) {
	m.results[index], m.generation[index] = result, m.current
}
