// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWords: what comes again is not copied again, and there is an end to what is kept.
func TestWords(t *testing.T) {
	var w words
	key := []byte("thread.id")
	require.Equal(t, "thread.id", w.of(key))
	require.Zero(t, testing.AllocsPerRun(10, func() { w.of(key) }))
	require.Equal(t, "spans.op", w.Field("spans", "op"))
	require.Zero(t, testing.AllocsPerRun(10, func() { w.Field("spans", "op") }))

	for i := range 2 * maxWords {
		text := fmt.Sprint("key", i)
		require.Equal(t, text, w.of([]byte(text)))
		require.Equal(t, "a."+text, w.Field("a", text))
	}
	long := strings.Repeat("x", maxWordLength+1)
	require.Equal(t, long, w.of([]byte(long)))
	require.Len(t, w.texts, maxWords)
	require.Len(t, w.fields, maxWords)
}
