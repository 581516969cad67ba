// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
)

const (
	// maxResponse is the number of bytes of a response of the API, before compression. A browser reads that much in a blink; the
	// largest one of our recordings has 200 kB.
	maxResponse = 8 << 20
	// maxTexts is the part of maxResponse for text, as encoded. The rest is more than 2,000 rows of numbers take.
	maxTexts = 6 << 20
	// briefText is how many bytes of a text are shown in any case.
	briefText = 64
	// attributeBytes is what is reserved for one more attribute: its punctuation, and a brief key, value and unit.
	attributeBytes = 512
)

// omissions is the part of every response that states what maxResponse left out.
type omissions struct {
	// Omitted is the number of texts that are shorter and of entries that are missing because of the size of the response.
	Omitted int `json:"omitted,omitempty"`
}

// budget is the number of bytes that the texts of one entry of a response may take. Entries get equal budgets, so that a long
// one displaces no other.
type budget struct {
	left    int
	omitted *int
}

// perEntry returns the budget of one of n entries that share so many bytes.
func perEntry(bytes, n int, omissions *omissions) budget {
	return budget{bytes / max(n, 1), &omissions.Omitted}
}

// text returns a text as it is shown: no longer than longestText, and no more than half of the budget, so that something is left for
// the texts after it.
func (b *budget) text(text string) string {
	longest := min(longestText, max(briefText, b.left/2))
	if len(text) > longest+clipSlack && longest < longestText {
		*b.omitted++
	}
	short := clip(text, longest)
	b.left -= encodedLen(short)
	return short
}

// encodedLen returns the length of a shown text in JSON without quotes. Of the characters that JSON escapes, only these are shown.
func encodedLen(text string) int {
	return len(text) + strings.Count(text, `"`) + strings.Count(text, `\`) + strings.Count(text, "\n") + strings.Count(text, "\t")
}

// attribute appends one of so many attributes to the list, or, if there are too many or the budget is used up, how many are missing.
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
