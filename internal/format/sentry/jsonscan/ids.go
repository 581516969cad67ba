// SPDX-License-Identifier: Apache-2.0

package jsonscan

import "strings"

// IsSimpleID reports whether an ID has 32 lower-case hex digits.
func IsSimpleID(id string) bool {
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
}

// SimpleID returns a UUID as 32 lower-case hex digits, the form that responses and payloads use, or
// "" if the text is not a UUID.
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
