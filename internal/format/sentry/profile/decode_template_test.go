// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLayoutValues: the fast path reads a value where it is of the one form that it knows, and the
// quotes are not part of it.
func TestLayoutValues(t *testing.T) {
	for name, c := range map[string]struct {
		value   string
		field   sampleField
		format  format
		known   bool
		through int // the end of the value itself
	}{
		"stack":                {"12", fieldStack, formatV2, true, 2},
		"stack as text":        {`"12"`, fieldStack, formatV2, false, 3},
		"thread":               {`"12"`, fieldThread, formatV2, true, 3},
		"thread as a number":   {"12", fieldThread, formatV1, false, 2},
		"time of V2":           {"1.5", fieldTime, formatV2, true, 3},
		"time of V2 as text":   {`"1.5"`, fieldTime, formatV2, false, 4},
		"time of V1":           {"15", fieldTime, formatV1, true, 2},
		"time of V1 as text":   {`"15"`, fieldTime, formatV1, true, 3},
		"any other":            {"12", fieldOther, formatV1, false, 2},
		"any other, which is ": {`"12"`, fieldOther, formatV1, false, 3},
	} {
		var l sampleTemplate
		data := []byte("{" + c.value + ",")
		next := l.addValue(data, c.field, c.format, 0, 1, 1+len(c.value))
		assert.Equal(t, 1+c.through, next, name)
		prefix := "{"
		if c.value[0] == '"' {
			prefix = `{"`
		}
		assert.Equal(t, prefix, string(l.parts[0].prefix), name)
		assert.False(t, l.usable(), "one field is not all three")
		l.parts = append(l.parts, templatePart{nil, fieldStack}, templatePart{nil, fieldTime})
		assert.Equal(t, c.known, l.usable(), name)
		for range 10 {
			l.addValue(data, c.field, c.format, 0, 1, 1+len(c.value))
		}
		assert.Len(t, l.parts, templateValues+1, name)
		assert.False(t, l.usable(), "four are too many")
	}
}

// TestHasPrefixAt: of each length, with a difference at each place.
func TestHasPrefixAt(t *testing.T) {
	data := []byte("0123456789abcdefghijklmnopqrstuvwxyz")
	for n := range 30 {
		prefix := append([]byte{}, data[3:3+n]...)
		assert.True(t, hasPrefixAt(data, 3, prefix))
		assert.True(t, hasPrefixAt(data[:3+n], 3, prefix))
		for i := range n {
			prefix[i] ^= 1
			assert.False(t, hasPrefixAt(data, 3, prefix), "%d of %d", i, n)
			prefix[i] ^= 1
		}
		if n > 0 {
			assert.False(t, hasPrefixAt(data[:3+n-1], 3, prefix))
		}
	}
}
