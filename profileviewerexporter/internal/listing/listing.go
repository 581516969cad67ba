// SPDX-License-Identifier: Apache-2.0

// Package listing selects a page of a list: filtered, searched and sorted by the query of a
// request.
package listing

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// PageSize is the maximum number of entries of a page. A longer one has more rows than users read.
const PageSize = 200

// Query selects a page of a list:
//
//	service=…   of one service
//	q=…         with a text, in any case
//	sort=…      by a column; descending after a minus sign
//	offset=…    without the first entries
//	entries=0   without any entries: only their number
type Query struct {
	Service    string
	Column     string
	Descending bool
	Offset     int
	Empty      bool

	search string // in lower case
}

// Parse reads the query of a request. The columns are those of the list, the default first.
func Parse(query url.Values, columns ...string) (q Query, err error) {
	q.Service, q.search = query.Get("service"), strings.ToLower(query.Get("q"))
	q.Column, q.Descending = strings.CutPrefix(cmp.Or(query.Get("sort"), columns[0]), "-")
	known := func(column string) bool { return strings.TrimPrefix(column, "-") == q.Column }
	if !slices.ContainsFunc(columns, known) {
		return q, fmt.Errorf("sort: is not one of %s", strings.Join(columns, ", "))
	}
	if text := query.Get("offset"); text != "" {
		offset, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return q, fmt.Errorf("offset: is not a number")
		}
		q.Offset = int(offset)
	}
	q.Empty = query.Get("entries") == "0"
	return q, nil
}

// Searches reports whether the query has a text to search for.
func (q *Query) Searches() bool { return q.search != "" }

// Wants reports whether the query selects an entry of one of the services with one of the texts.
func (q *Query) Wants(services []string, texts ...string) bool {
	if q.Service != "" && !slices.Contains(services, q.Service) {
		return false
	}
	return q.search == "" || slices.ContainsFunc(texts, q.Finds)
}

// Finds reports whether a text contains the search text.
func (q *Query) Finds(text string) bool { return strings.Contains(strings.ToLower(text), q.search) }

// Columns are the sort orders of a list, by column.
type Columns[T any] map[string]func(a, b T) int

// Page sorts a list and returns the page that the query selects. Entries that are equal in the
// column keep their order.
func Page[T any](q Query, list []T, columns Columns[T]) []T {
	if q.Empty {
		return list[:0]
	}
	if order := columns[q.Column]; order != nil {
		slices.SortStableFunc(list, func(a, b T) int {
			if q.Descending {
				return order(b, a)
			}
			return order(a, b)
		})
	}
	list = list[min(q.Offset, len(list)):]
	return list[:min(PageSize, len(list))]
}
