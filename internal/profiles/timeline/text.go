// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const (
	// MaxText is the maximum length of the name of a function, file, module or thread. A message
	// contains a long name once, but the formats of other tools repeat it. The longest names of our
	// recordings have 300 bytes.
	MaxText = 2000
	// ClipSlack is the maximum length of the mark in a clipped text. A clipped text may exceed the
	// limit by this length and is not clipped again.
	ClipSlack = 32
	// keptEnd is the number of bytes that are kept at the end of a clipped text, where paths and
	// qualified names differ.
	keptEnd = 200
)

// Clip shortens a text to the given length. It replaces the middle with the number of omitted
// bytes.
func Clip(text string, longest int) string {
	all := len(text)
	if all <= longest+ClipSlack {
		return text
	}
	end := min(keptEnd, longest/4)
	return strings.ToValidUTF8(text[:longest-end], "") + fmt.Sprintf("…[%d bytes]…", all-longest) + strings.ToValidUTF8(text[all-end:], "")
}

// texts reads the texts of a message. It clips each long text only once.
type texts struct {
	view    dictionary.View
	strings map[dictionary.StringIndex]string
	values  map[dictionary.AttributeIndex]string
}

func newTexts(view dictionary.View) texts {
	return texts{view: view, strings: map[dictionary.StringIndex]string{}, values: map[dictionary.AttributeIndex]string{}}
}

// text returns an entry of the string table.
func (t texts) text(i dictionary.StringIndex) string {
	whole := t.view.Text(i)
	if len(whole) <= MaxText {
		return whole
	}
	short, known := t.strings[i]
	if !known {
		short = Clip(whole, MaxText)
		t.strings[i] = short
	}
	return short
}

// value returns the value of an entry of the attribute table as text. It formats each map only
// once.
func (t texts) value(i dictionary.AttributeIndex, value pcommon.Value) string {
	if value.Type() == pcommon.ValueTypeStr && len(value.Str()) <= MaxText {
		return value.Str()
	}
	short, known := t.values[i]
	if !known {
		short = Clip(value.AsString(), MaxText)
		t.values[i] = short
	}
	return short
}

// attribute returns the value of an attribute of a record as text, or "". A thread ID may be a
// number or a string.
func (t texts) attribute(indices pcommon.Int32Slice, key string) string {
	value, ok := t.view.Get(indices, key)
	switch {
	case !ok:
		return ""
	case value.Type() == pcommon.ValueTypeInt:
		return strconv.FormatInt(value.Int(), 10)
	case value.Type() == pcommon.ValueTypeStr && len(value.Str()) <= MaxText:
		return value.Str()
	}
	for j := range indices.Len() {
		i := dictionary.AttributeIndex(indices.At(j))
		if a, _ := t.view.Attribute(i); a.Key == key {
			return t.value(i, a.Value)
		}
	}
	return ""
}
