// SPDX-License-Identifier: Apache-2.0

package perfetto

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTextsAreResolvedOnce: other entries that change do not make a text be hashed again.
// Otherwise, each packet could make the reader hash a text of 4 MiB.
func TestTextsAreResolvedOnce(t *testing.T) {
	b, s := newBuilder(0), &sequence{}
	s.names.put(1, text{bytes: []byte("f")})
	index := b.text(&s.names, 1)
	s.names.entries[0].bytes = []byte("not read again")
	s.changed++
	assert.Equal(t, index, b.text(&s.names, 1))
	assert.Len(t, b.trace.Strings, 2)
	s.names.put(1, text{bytes: []byte("g")})
	assert.NotEqual(t, index, b.text(&s.names, 1), "another text")
}
