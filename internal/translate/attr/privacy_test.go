// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestIsPersonalHeader: the name has any case, hyphens or underscores, and is not copied.
func TestIsPersonalHeader(t *testing.T) {
	for name, want := range map[string]bool{
		"Cookie": true, "X_FORWARDED_FOR": true, "x-real_ip": true, "coo\u212aie": true, // the Kelvin sign
		"": false, "Accept": false, "cookies": false, "coökie": false,
	} {
		assert.Equal(t, want, IsPersonalHeader(name), name)
		if want && name != "coo\u212aie" {
			assert.Zero(t, testing.AllocsPerRun(10, func() { IsPersonalHeader(name) }), name)
		}
	}
}

// TestIsJsonText agrees with JsonText.
func TestIsJsonText(t *testing.T) {
	for _, value := range []string{`"a"`, `"\u0061"`, `""`, `"a\n"`, `1`, `null`, `{}`, "\"\xff\"", ``, `"`} {
		for _, text := range []string{"a", "", "a\n", `\u0061`, "1", "\ufffd"} {
			assert.Equal(t, JsonText([]byte(value)) == text, IsJsonText([]byte(value), text), "%s %q", value, text)
		}
	}
}
