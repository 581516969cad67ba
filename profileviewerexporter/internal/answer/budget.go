// SPDX-License-Identifier: Apache-2.0

// Package answer has the parts that responses of all views share: texts within a budget of bytes,
// and attributes.
package answer

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const (
	// MaxResponse is the maximum size of a response of the API, before compression. A browser
	// parses it without a noticeable delay; the largest response for our recordings is 200 kB.
	MaxResponse = 8 << 20
	// MaxTexts is the part of MaxResponse for encoded text. The rest is enough for 2,000 rows of
	// numbers.
	MaxTexts = 6 << 20
	// briefText is the number of bytes of a text that are always shown.
	briefText = 64
	// attributeBytes is reserved for one more attribute: its punctuation, and a brief key, value
	// and unit.
	attributeBytes = 512
	// MaxAttributes is the maximum number of attributes in a list.
	MaxAttributes = 250
	// LongestText is the maximum length of a name or value in a response. The longest function
	// names in our recordings (Swift, nested closures) are 300 bytes long, database statements a
	// few thousand.
	LongestText = timeline.MaxText
)

// Omissions is the part of a response that states how much it omits to stay below MaxResponse.
type Omissions struct {
	// Omitted is the number of truncated strings and missing entries.
	Omitted int `json:"omitted,omitempty"`
}

// Attribute is an attribute in a response.
type Attribute struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Unit  string `json:"unit,omitempty"`
}

// Budget is the remaining number of bytes for the texts of one entry of a response. Entries have
// equal budgets, so that a long entry does not displace others.
type Budget struct {
	left    int
	omitted *int
}

// PerEntry returns the budget of one of n entries that share a number of bytes.
func PerEntry(bytes, n int, omissions *Omissions) Budget {
	return Budget{bytes / max(n, 1), &omissions.Omitted}
}

// Text returns a text for display: no longer than LongestText, and no longer than half of the
// budget, which leaves bytes for the texts after it.
func (b *Budget) Text(text string) string {
	longest := min(LongestText, max(briefText, b.left/2))
	if len(text) > longest+timeline.ClipSlack && longest < LongestText {
		*b.omitted++
	}
	short := timeline.Printable(text, longest)
	b.left -= encodedLen(short)
	return short
}

// Display returns a text for an error, or for a comparison with the summaries of the store.
func Display(text string) string { return timeline.Printable(text, LongestText) }

// encodedLen returns the length of a displayed text in JSON, without its quotes. A displayed text
// has no other characters that JSON escapes.
func encodedLen(text string) int {
	return len(text) + strings.Count(text, `"`) + strings.Count(text, `\`) + strings.Count(text, "\n") + strings.Count(text, "\t")
}

// Lines returns texts that belong together, or none if they exceed the budget.
func (b *Budget) Lines(list []string) (out []string) {
	for _, line := range list {
		if b.left < attributeBytes {
			*b.omitted += len(list)
			return nil
		}
		out = append(out, b.Text(line))
	}
	return out
}

// attribute appends an attribute to the list. all is the total number of attributes. If the list is
// full or the budget exhausted, it appends the number of missing attributes instead and returns
// false.
func (b *Budget) attribute(list *[]Attribute, all int, key, unit string, value pcommon.Value) (more bool) {
	if listed := len(*list); listed == MaxAttributes || b.left < attributeBytes {
		*list = append(*list, Attribute{Key: "…", Value: More(all - listed)})
		if listed < MaxAttributes {
			*b.omitted += all - listed
		}
		return false
	}
	*list = append(*list, Attribute{Key: b.Text(key), Value: b.Text(value.AsString()), Unit: b.Text(unit)})
	b.left -= attributeBytes / 8
	return true
}

// More returns the text that replaces n entries at the end of a list.
func More(n int) string { return strconv.Itoa(n) + " more" }

// List returns the attributes of a profile.
func (b *Budget) List(list []dictionary.Attribute) []Attribute {
	out := []Attribute{}
	for _, a := range list {
		if !b.attribute(&out, len(list), a.Key, a.Unit, a.Value) {
			break
		}
	}
	return out
}

// Map returns the entries of a map.
func (b *Budget) Map(m pcommon.Map) []Attribute { return b.MapWithout(m, nil) }

// MapWithout returns the entries of a map except for some keys.
func (b *Budget) MapWithout(m pcommon.Map, keys []string) []Attribute {
	out, all := []Attribute{}, m.Len()
	for _, key := range keys {
		if _, ok := m.Get(key); ok {
			all--
		}
	}
	for key, value := range m.All() {
		if !slices.Contains(keys, key) && !b.attribute(&out, all, key, "", value) {
			break
		}
	}
	return out
}

// Nanos returns a time in Unix nanoseconds as text, because it exceeds JavaScript's integers.
func Nanos(t uint64) string { return strconv.FormatUint(t, 10) }
