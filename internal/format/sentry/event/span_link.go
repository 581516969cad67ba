// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// SpanLink refers to a span of this or another trace: the previous page, the processed message.
type SpanLink struct {
	TraceID, SpanID string
	Sampled         jsonscan.Optional[bool]
	Attributes      []Attribute // without types in transactions, typed in containers
}

// plainLinks and typedLinks are the tables of SpanLink in transactions and in containers.
var (
	plainLinks = newLinks(row[SpanLink]{
		key: "attributes", read: func(l *reader, s *SpanLink, name string) { s.Attributes = l.plainAttributes(name) }, write: appendLinkAttributes,
	})
	typedLinks = newLinks(row[SpanLink]{
		key: "attributes", read: func(l *reader, s *SpanLink, _ string) { s.Attributes = l.attributes() }, write: appendLinkAttributes,
	})
)

func newLinks(attributes row[SpanLink]) *Table[SpanLink] {
	return newTable[SpanLink]("links", nil,
		requiredText(Source.TraceID, "trace_id", func(s *SpanLink) *string { return &s.TraceID }),
		requiredText(Source.SpanID, "span_id", func(s *SpanLink) *string { return &s.SpanID }),
		flag("sampled", func(s *SpanLink) *jsonscan.Optional[bool] { return &s.Sampled }),
		attributes,
	)
}

// links is a list of links. Those without valid IDs are dropped.
func links[T any](key string, table *Table[SpanLink], at func(*T) *[]SpanLink) row[T] {
	return row[T]{
		key: key,
		read: func(l *reader, t *T, name string) {
			all := at(t)
			*all = nil
			l.List(name, func() {
				link := grow(all)
				isObject := table.read(l, link)
				if link.TraceID == "" || link.SpanID == "" {
					shrink(all)
					if isObject {
						l.AddFlaw(name)
					}
				}
			})
		},
		write: func(dst []byte, key string, t *T) []byte {
			if len(*at(t)) == 0 {
				return dst
			}
			return appendList(jsonscan.AppendKey(dst, key), table, *at(t))
		},
	}
}

// plainAttributes reads attributes without types, as in the links of transactions.
func (l *reader) plainAttributes(field string) (all []Attribute) {
	for _, v := range l.namedValues(field) {
		all = append(all, Attribute{Key: v.Name, Value: v.Value})
	}
	return all
}

func appendLinkAttributes(dst []byte, _ string, s *SpanLink) []byte {
	return appendAttributes(dst, s.Attributes, nil)
}
