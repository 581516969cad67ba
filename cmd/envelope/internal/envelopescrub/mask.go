// SPDX-License-Identifier: Apache-2.0

package envelopescrub

import (
	"bytes"
	"regexp"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// fill overwrites all bytes except line breaks.
func fill(data []byte) {
	for i, c := range data {
		if c != '\n' && c != '\r' {
			data[i] = '*'
		}
	}
}

// token matches the tokens of incomplete JSON: texts, terminated or not, literals and punctuation.
// They are as long as possible, so that overwriting them leaves the syntax error in the same place.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?|true|false|null|[{}\[\]:,\s]+`)

// maskTokens overwrites incomplete JSON, or other text, except its punctuation.
func maskTokens(rest []byte) {
	at := 0
	for _, match := range token.FindAllIndex(rest, -1) {
		maskNumbers(rest[at:match[0]])
		if at = match[1]; rest[match[0]] == '"' {
			fill(bytes.Trim(rest[match[0]:at], `"`))
		}
	}
	maskNumbers(rest[at:])
}

// maskNumbers overwrites a part of incomplete JSON that should be a number.
func maskNumbers(text []byte) {
	for i, c := range text {
		switch {
		case c == '0' || bytes.IndexByte([]byte("+-.eE"), c) >= 0 && len(text) > 1 && jsonscan.IsDigit(text[max(i, 1)-1]):
		case jsonscan.IsDigit(c):
			text[i] = '1'
		default:
			text[i] = '*'
		}
	}
}

// mask overwrites all texts and numbers of a value. It keeps the types.
func (n *node) mask() {
	switch {
	case n.isContainer():
		for i := range n.members {
			n.members[i].mask()
		}
	case n.kind == '"':
		fill(n.token)
	default:
		maskNumber(n.token)
	}
	n.text = ""
}

// maskNumber overwrites the digits of a number. JSON does not allow leading zeros.
func maskNumber(token []byte) {
	for i, c := range token {
		switch {
		case !jsonscan.IsDigit(c):
		case c != '0' && (i == 0 || i == 1 && token[0] == '-'):
			token[i] = '1'
		default:
			token[i] = '0'
		}
	}
}

// apply overwrites the parts of a node that differ from the scrubbed value.
func (n *node) apply(v pcommon.Value) {
	switch {
	case n.kind == '{' && v.Type() == pcommon.ValueTypeMap:
		scrubbed := make(map[string]pcommon.Value, v.Map().Len())
		for key, value := range v.Map().All() {
			scrubbed[key] = value
		}
		for i := range n.members {
			if value, kept := scrubbed[n.members[i].key]; kept {
				n.members[i].apply(value)
			} else {
				n.members[i].mask()
			}
		}
	case n.kind == '[' && v.Type() == pcommon.ValueTypeSlice && v.Slice().Len() == len(n.members):
		for i := range n.members {
			n.members[i].apply(v.Slice().At(i))
		}
	case n.kind == '"' && v.Type() == pcommon.ValueTypeStr:
		if v.Str() != n.text && !n.isID() {
			fit(n.token, v.Str())
		}
	case n.isContainer(), n.kind == '"', v.Type() == pcommon.ValueTypeStr:
		n.mask()
	}
}

// fit overwrites the content of a text with another one, cut or padded to its length.
func fit(token []byte, text string) {
	content := make([]byte, 0, len(token))
	for len(text) > 0 {
		_, size := utf8.DecodeRuneInString(text)
		quoted := jsonscan.AppendJSONText(nil, text[:size])
		if len(content)+len(quoted)-2 > len(token) {
			break
		}
		content, text = append(content, quoted[1:len(quoted)-1]...), text[size:]
	}
	copy(token, append(content, bytes.Repeat([]byte{' '}, len(token)-len(content))...))
}
