// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"encoding/hex"
	"strings"
)

// ParseID parses a UUID, with or without hyphens, in lower or upper case. ok is false for other
// text and for all zeros.
func ParseID(text string) (id [16]byte, ok bool) {
	const maxText = 64 // longer than a UUID in any notation
	if len(text) > 32 && len(text) <= maxText {
		text = strings.ReplaceAll(text, "-", "")
	}
	if len(text) != 32 {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(text))
	return id, err == nil && id != [16]byte{}
}
