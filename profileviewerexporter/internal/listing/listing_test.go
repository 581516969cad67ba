// SPDX-License-Identifier: Apache-2.0

package listing

import (
	"cmp"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, query string) Query {
	values, err := url.ParseQuery(query)
	require.NoError(t, err)
	q, err := Parse(values, "-size", "name")
	require.NoError(t, err)
	return q
}

// TestPage: the pages of a list are the list, in the order of the column.
func TestPage(t *testing.T) {
	const size = 2*PageSize + 50
	columns := Columns[int]{"size": cmp.Compare[int], "name": func(a, b int) int { return cmp.Compare(a%7, b%7) }}
	numbers := func() (list []int) {
		for i := range size {
			list = append(list, (i*31)%size)
		}
		return list
	}
	var all []int
	for _, offset := range []string{"0", "200", "400"} {
		all = append(all, Page(parse(t, "offset="+offset), numbers(), columns)...)
	}
	require.Len(t, all, size)
	for i, n := range all {
		require.Equal(t, size-1-i, n)
	}
	assert.Empty(t, Page(parse(t, "offset=450"), numbers(), columns))
	up := Page(parse(t, "sort=size"), numbers(), columns)
	assert.Equal(t, []int{0, 1, 2}, up[:3])
	stable := Page(parse(t, "sort=name"), []int{7, 0, 1, 14}, columns)
	assert.Equal(t, []int{7, 0, 14, 1}, stable)
}

func TestParseErrors(t *testing.T) {
	for _, query := range []string{"sort=other", "sort=--size", "offset=x", "offset=-1", "offset=99999999999"} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		_, err = Parse(values, "-size", "name")
		assert.Error(t, err, query)
	}
}

func TestWants(t *testing.T) {
	q := parse(t, "service=shop&q=BOOM")
	assert.True(t, q.Wants([]string{"cart", "shop"}, "x", "a boom"))
	assert.False(t, q.Wants([]string{"cart"}, "boom"))
	assert.False(t, q.Wants([]string{"shop"}, "bang"))
	everything := parse(t, "")
	assert.True(t, everything.Wants(nil))
}
