// SPDX-License-Identifier: Apache-2.0

package jsonscan

import "strings"

func IsSimpleID(id string) bool {
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
}

// SimpleID gives a UUID as 32 lower-case hex digits, which is how answers and payloads name it; "" when it is none.
func SimpleID(id string) string {
	if len(id) == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' {
		id = id[:8] + id[9:13] + id[14:18] + id[19:23] + id[24:]
	}
	if len(id) != 32 {
		return ""
	}
	for i := range len(id) {
		if !isHex(id[i]) {
			return ""
		}
	}
	return strings.ToLower(id)
}

// IsID says whether a text is an id in the form of Sentry's own: 32 lower-case hex digits, not all of them zero.
func IsID(text string) bool {
	return IsSimpleID(text) && text != "00000000000000000000000000000000"
}
