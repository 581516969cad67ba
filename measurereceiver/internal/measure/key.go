// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// APIKey returns the key in an Authorization header, "" if there is none.
func APIKey(authorization string) string {
	_, key, _ := strings.Cut(authorization, "Bearer ")
	return strings.TrimSpace(key)
}

// WellFormedKey reports whether a key has the form of Measure's keys: msrsh_<64 hex>_<first 8 hex
// of the middle's SHA-256>.
func WellFormedKey(key string) bool {
	middle, checksum, found := strings.Cut(strings.TrimPrefix(key, "msrsh_"), "_")
	if !found || !strings.HasPrefix(key, "msrsh_") || len(middle) != 64 || len(checksum) != 8 {
		return false
	}
	sum := sha256.Sum256([]byte(middle))
	return hex.EncodeToString(sum[:4]) == checksum
}
