// SPDX-License-Identifier: Apache-2.0

package event

import (
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Tag is a key with a text value.
type Tag struct{ Key, Value string }

// maxTags bounds the tags, and the headers, of an element. Ingest has no limit for tags, and SDKs
// send a few dozen. pdata compares each with all attributes before it: with 1,000, that takes about
// as long as with the attributes that an event may have otherwise (fromsentry.MaxRecordAttributes).
const maxTags = 1000

// tags are an object or a list of pairs, because Sentry's schema allows both. Null means no value.
func tags[T any](key string, at func(*T) *[]Tag) row[T] {
	return row[T]{
		key:   key,
		read:  func(l *reader, t *T, name string) { *at(t) = l.tags(name) },
		write: func(dst []byte, key string, t *T) []byte { return appendTags(dst, key, *at(t)) },
	}
}

// headers are tags whose keys may have several values: as a list, or in several pairs.
func headers[T any](key string, at func(*T) *[]Tag) row[T] {
	r := tags(key, at)
	r.write = func(dst []byte, key string, t *T) []byte {
		if all := *at(t); len(all) > 0 {
			return AppendHeaders(jsonscan.AppendKey(dst, key), all)
		}
		return dst
	}
	return r
}

// DecodeHeaders reads headers. It reports false if it does not return all of them.
func DecodeHeaders(json []byte) (all []Tag, ok bool) {
	l := newReader(json)
	all = l.tags("headers")
	return all, l.S.Err == nil && len(l.Flaws) == 0
}

// AppendHeaders appends headers as an object or, if one occurs several times, as a list of pairs.
// Sentry's ingest keeps each pair. It joins the values of a list (relay-event-schema,
// protocol/request.rs), which destroys cookies.
func AppendHeaders(dst []byte, all []Tag) []byte {
	for i := range all {
		if slices.ContainsFunc(all[:i], func(other Tag) bool { return other.Key == all[i].Key }) {
			return appendPairs(dst, all)
		}
	}
	return appendTagObject(dst, all)
}

func (l *reader) tags(field string) (all []Tag) {
	if l.S.Peek() != '[' {
		l.Object(field, func(key string) { all = l.tag(all, field, strings.ToValidUTF8(key, "\uFFFD")) })
		return all
	}
	l.List(field, func() {
		var key string
		n := 0
		l.List(field, func() {
			switch n++; n {
			case 1:
				key = l.Text(field)
			case 2:
				all = l.tag(all, field, key)
			default:
				l.S.Skip()
			}
		})
	})
	return all
}

func (l *reader) tag(all []Tag, field, key string) []Tag {
	switch c := l.S.Peek(); {
	case c == '[':
		for _, value := range l.Texts(field) {
			all = l.addTag(all, key, value)
		}
		return all
	case c == '-' || jsonscan.IsDigit(c) || c == 't' || c == 'f':
		return l.addTag(all, key, string(l.S.Value()))
	}
	return l.addTag(all, key, l.Text(field))
}

func (l *reader) addTag(all []Tag, key, value string) []Tag {
	if key == "" || value == "" {
		return all
	}
	if len(all) == maxTags {
		l.AddFlaw("too_many")
		return all
	}
	return append(all, Tag{key, value})
}

func appendTags(dst []byte, key string, tags []Tag) []byte {
	if len(tags) == 0 {
		return dst
	}
	return appendTagObject(jsonscan.AppendKey(dst, key), tags)
}

func appendTagObject(dst []byte, tags []Tag) []byte {
	dst = append(dst, '{')
	for i := range tags {
		dst = jsonscan.AppendJSONText(jsonscan.AppendName(dst, tags[i].Key), tags[i].Value)
	}
	return append(dst, '}')
}

func appendPairs(dst []byte, tags []Tag) []byte {
	dst = append(dst, '[')
	for i := range tags {
		dst = jsonscan.AppendJSONText(append(appendComma(dst), '['), tags[i].Key)
		dst = append(jsonscan.AppendJSONText(append(dst, ','), tags[i].Value), ']')
	}
	return append(dst, ']')
}
