// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWordsFindsEach(t *testing.T) {
	var w Words[int]
	_, ok := w.Get("absent")
	require.False(t, ok)
	for n := range 1000 {
		w.Put("key."+strconv.Itoa(n), n)
	}
	w.Put("key.7", -7) // replaces
	for n := range 1000 {
		value, ok := w.Get("key." + strconv.Itoa(n))
		require.True(t, ok)
		require.Equal(t, map[bool]int{true: -7, false: n}[n == 7], value)
	}
	after := 0
	for _, n := range []int{0, 1, 3, 900, 901, 2, 999, 0} {
		value, ok := w.Next(&after, "key."+strconv.Itoa(n))
		require.True(t, ok)
		require.Equal(t, n, value)
		_, ok = w.Next(&after, "absent")
		require.False(t, ok)
		require.Equal(t, n+1, after)
	}
	for _, absent := range []string{"", "key", "key.1000", "kex.1"} {
		_, ok := w.Get(absent)
		require.False(t, ok, absent)
	}
}
