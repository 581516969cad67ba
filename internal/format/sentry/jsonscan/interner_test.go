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
	w := &interner{texts: map[string]string{}}
	key := []byte("thread.id")
	require.Equal(t, "thread.id", w.Intern(key))
	require.Zero(t, testing.AllocsPerRun(10, func() { w.Intern(key) }))

	for i := range 2 * maxInterned {
		text := fmt.Sprint("key", i)
		require.Equal(t, text, w.Intern([]byte(text)))
	}
	long := strings.Repeat("x", maxInternedLength+1)
	require.Equal(t, long, w.Intern([]byte(long)))
	require.Len(t, w.texts, maxInterned)
	w.release()
	require.Empty(t, w.texts)
}
