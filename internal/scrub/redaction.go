// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"crypto/hmac"
	"crypto/sha1"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// redaction is what replaces a match.
type redaction struct {
	Method string `json:"method"`
	Text   string `json:"text"`
}

// Methods of redaction.
const (
	methodDefault = "default" // like remove, and a rule that refers to this one may replace it
	methodRemove  = "remove"
	methodReplace = "replace"
	methodMask    = "mask"
	methodHash    = "hash"
)

// Filtered is the text that replaces removed values.
const Filtered = semconv.Filtered

func replaceBy(text string) redaction { return redaction{Method: methodReplace, Text: text} }

// removes reports whether a whole value is removed instead of replaced.
func (r redaction) removes() bool {
	return r.Method == methodDefault || r.Method == methodRemove || r.Method == ""
}

// of returns the replacement of a match.
func (r redaction) of(match string) string {
	switch r.Method {
	case methodReplace:
		return r.Text
	case methodMask:
		return strings.Repeat("*", utf8.RuneCountInString(match))
	case methodHash:
		mac := hmac.New(sha1.New, nil)
		mac.Write([]byte(match))
		return fmt.Sprintf("%X", mac.Sum(nil))
	default:
		return ""
	}
}

// redacted is a text during redaction. A NUL marks each replacement, so that no rule
// matches the result of another; other NULs are removed first.
type redacted struct {
	text  string
	marks []string // in the order of the NULs
}

const nul = "\x00"

// replace replaces the groups of all matches of a pattern, and reports whether there were any. It
// replaces the whole text if there are too many.
func (r *redacted) replace(p *pattern, by redaction) bool {
	search := r.text
	matches, ok := p.all(search)
	if !ok {
		return r.replaceAll(by)
	}
	matches = slices.DeleteFunc(matches, func(match []int) bool { return p.excludes(search, match[0]) })
	if len(matches) == 0 {
		return false
	}
	var out strings.Builder
	var marks []string
	pos, next := 0, 0
	keep := func(end int) {
		part := search[pos:end]
		out.WriteString(part)
		n := strings.Count(part, nul)
		marks = append(marks, r.marks[next:next+n]...)
		next += n
	}
	for _, match := range matches {
		for _, group := range p.groups {
			if 2*group >= len(match) || match[2*group] < 0 {
				continue
			}
			from, to := match[2*group], match[2*group+1]
			if from < pos {
				continue // a group inside a replaced one
			}
			keep(from)
			text := search[from:to]
			next += strings.Count(text, nul)
			out.WriteString(nul)
			marks = append(marks, by.of(text))
			pos = to
		}
	}
	keep(len(search))
	r.text, r.marks = out.String(), marks
	return true
}

// replaceAll replaces the whole text, unless nothing of the original is left.
func (r *redacted) replaceAll(by redaction) bool {
	if strings.Trim(r.text, nul) == "" && len(r.marks) > 0 {
		return false
	}
	r.text, r.marks = nul, []string{by.of(r.text)}
	return true
}

// String returns the text with its replacements.
func (r *redacted) String() string {
	if len(r.marks) == 0 {
		return r.text
	}
	var out strings.Builder
	rest := r.text
	for _, mark := range r.marks {
		before, after, _ := strings.Cut(rest, nul)
		out.WriteString(before)
		out.WriteString(mark)
		rest = after
	}
	out.WriteString(rest)
	return out.String()
}
