// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// NamedValue is a member of an object with arbitrary keys.
type NamedValue struct {
	Name  string
	Value []byte // JSON, never null
}

// named is an object with arbitrary keys.
func named[T any](key string, at func(*T) *[]NamedValue) row[T] {
	return row[T]{
		key:   key,
		read:  func(l *reader, t *T, name string) { *at(t) = l.namedValues(name) },
		write: func(dst []byte, key string, t *T) []byte { return appendNamed(dst, key, *at(t)) },
	}
}

func (l *reader) namedValues(field string) []NamedValue {
	all := l.valueBuf[:0]
	l.Object(field, func(key string) { l.keep(&all, key) })
	l.valueBuf = all
	return jsonscan.Clipped(all)
}

// appendNamed writes an object of JSON values.
func appendNamed(dst []byte, key string, members []NamedValue) []byte {
	if len(members) == 0 {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, key), '{')
	for i := range members {
		dst = members[i].append(dst)
	}
	return append(dst, '}')
}

// append appends the member. It appends nothing if the value is empty.
func (v *NamedValue) append(dst []byte) []byte {
	if len(v.Value) == 0 {
		return dst
	}
	return append(jsonscan.AppendName(dst, v.Name), v.Value...)
}
