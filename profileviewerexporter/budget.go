// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

const (
	// maxResponse is the maximum size of a response of the API, before compression. A browser
	// parses it without a noticeable delay; the largest response to our recordings has 200 kB.
	maxResponse = 8 << 20
	// maxTexts is the part of maxResponse for encoded text. The rest is enough for 2,000 rows of
	// numbers.
	maxTexts = 6 << 20
	// briefText is the number of bytes of a text that are always shown.
	briefText = 64
	// attributeBytes is reserved for one more attribute: its punctuation, and a brief key, value
	// and unit.
	attributeBytes = 512
	// longestText is the maximum length of a name or value in a response. The longest function
	// names of our recordings (Swift, nested closures) have 300 bytes, database statements a few
	// thousand.
	longestText = timeline.MaxText
)

// omissions is the part of a response that states how much it omits to stay below maxResponse.
type omissions struct {
	// Omitted is the number of shortened texts and missing entries.
	Omitted int `json:"omitted,omitempty"`
}

// budget is the remaining number of bytes for the texts of one entry of a response. Entries have
// equal budgets, so that a long entry does not displace others.
type budget struct {
	left    int
	omitted *int
}

// perEntry returns the budget of one of n entries that share a number of bytes.
func perEntry(bytes, n int, omissions *omissions) budget {
	return budget{bytes / max(n, 1), &omissions.Omitted}
}

// text returns a text for display: no longer than longestText, and no longer than half of the
// budget, which leaves bytes for the texts after it.
func (b *budget) text(text string) string {
	longest := min(longestText, max(briefText, b.left/2))
	if len(text) > longest+timeline.ClipSlack && longest < longestText {
		*b.omitted++
	}
	short := timeline.Printable(text, longest)
	b.left -= encodedLen(short)
	return short
}

// displayText returns a text for an error, or for a comparison with the summaries of the store.
func displayText(text string) string { return timeline.Printable(text, longestText) }

// encodedLen returns the length of a displayed text in JSON, without its quotes. A displayed text
// has no other characters that JSON escapes.
func encodedLen(text string) int {
	return len(text) + strings.Count(text, `"`) + strings.Count(text, `\`) + strings.Count(text, "\n") + strings.Count(text, "\t")
}

// attribute appends an attribute to the list. all is the total number of attributes. If the list is
// full or the budget exhausted, it appends the number of missing attributes instead and returns
// false.
func (b *budget) attribute(list *[]attributeAnswer, all int, key, unit string, value pcommon.Value) (more bool) {
	if listed := len(*list); listed == maxAttributes || b.left < attributeBytes {
		*list = append(*list, attributeAnswer{Key: "…", Value: moreText(all - listed)})
		if listed < maxAttributes {
			*b.omitted += all - listed
		}
		return false
	}
	*list = append(*list, attributeAnswer{Key: b.text(key), Value: b.text(value.AsString()), Unit: b.text(unit)})
	b.left -= attributeBytes / 8
	return true
}

func moreText(n int) string { return strconv.Itoa(n) + " more" }

func (b *budget) attributes(list []dictionary.Attribute) []attributeAnswer {
	out := []attributeAnswer{}
	for _, a := range list {
		if !b.attribute(&out, len(list), a.Key, a.Unit, a.Value) {
			break
		}
	}
	return out
}

func (b *budget) mapEntries(m pcommon.Map) []attributeAnswer {
	out := []attributeAnswer{}
	for key, value := range m.All() {
		if !b.attribute(&out, m.Len(), key, "", value) {
			break
		}
	}
	return out
}
