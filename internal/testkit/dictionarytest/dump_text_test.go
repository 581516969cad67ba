// SPDX-License-Identifier: Apache-2.0

package dictionarytest

import (
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Names from outside must not be able to imitate the layout.
func TestHostileNamesAreQuoted(t *testing.T) {
	for _, s := range []string{
		"", "?", "in", "inlined", "two words", "a\nsample", "a:12", "k=v", `"`, "a{b}", "[1]", "!function 1",
		"tab\t", "\x00", "\u202egpj.exe", "\xff", "0x12", "naïve",
	} {
		if got := quoteName(s); !strings.HasPrefix(got, `"`) || strings.ContainsAny(got, "\n\t\x00\u202e") {
			t.Errorf("%q is printed as %s", s, got)
		}
	}
	for _, s := range []string{"main", "<module>", "(*T).Run", "Array.map<T>", "/app/main.py", "@scope/pkg", "a-b_c~d", "$init"} {
		if got := quoteName(s); got != s {
			t.Errorf("%q is printed as %s", s, got)
		}
	}
}

func TestDumpOfTooDeepValueEnds(t *testing.T) {
	v := pcommon.NewValueSlice()
	for at, i := v, 0; i < 3*maxDepth; i++ {
		at = at.Slice().AppendEmpty()
		at.SetEmptySlice()
	}
	if got := formatValue(v); !strings.Contains(got, "!too deep") {
		t.Error(got)
	}
}
