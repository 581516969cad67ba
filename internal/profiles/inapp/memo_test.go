// SPDX-License-Identifier: Apache-2.0

package inapp

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMemo: each combination of texts is classified once, however many functions have it.
func TestMemo(t *testing.T) {
	file, library := "/srv/"+strings.Repeat("a/", 1000)+"app.py", "/usr/lib/python3/"+strings.Repeat("a/", 1000)+"x.py"
	var m Memo
	for range 1000 {
		for _, name := range []string{"f", strings.Repeat("g", 1000)} {
			for _, f := range []Frame{{Type: "cpython", File: file, Function: name}, {Type: "cpython", File: library, Function: name}, {Type: "v8js", File: library, Function: name}} {
				want, wantKnown := Guess(f)
				inApp, known := m.Guess(f)
				assert.Equal(t, want, inApp)
				assert.Equal(t, wantKnown, known)
			}
		}
	}
	assert.Len(t, m.known, 6)
}

// TestStartOfFunction: no rule reads more of the name of a function than the key of Memo has.
func TestStartOfFunction(t *testing.T) {
	for _, prefix := range slices.Concat(dotnetPrefixes, rustFunctions) {
		assert.LessOrEqual(t, len("<<&")+len(prefix), startOfFunction)
	}
}
