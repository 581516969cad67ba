// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestValidRelease(t *testing.T) {
	for text, want := range map[string]string{
		"shop@1.0": "shop@1.0", "shop@feature/cart": "shop@feature-cart", `a\b` + "\nc": "a-b-c", " 1.0 ": "1.0", "latest": "", "..": "", "": "",
	} {
		assert.Equal(t, want, ValidRelease(text), text)
	}
	assert.LessOrEqual(t, len(ValidRelease(strings.Repeat("x", 1000))), 203, "clipped, with an ellipsis")
}

func TestValidEnvironment(t *testing.T) {
	for text, want := range map[string]string{"prod": "prod", "eu/prod": "eu-prod", "None": "", ".": "", " ": ""} {
		assert.Equal(t, want, ValidEnvironment(text), text)
	}
}

func TestValidDist(t *testing.T) {
	for text, want := range map[string]string{"17": "17", "a.b_c-D": "a.b_c-D", "a b": "", strings.Repeat("1", 65): ""} {
		assert.Equal(t, want, ValidDist(text), text)
	}
}
