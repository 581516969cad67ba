// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// RepairImage returns an image that ingest accepts in a profile. Native images of other types
// become "symbolic", as in Sentry's own Perfetto converter; IDs that ingest cannot read are
// removed. It reports false if no ID remains.
func RepairImage(image Image) (Image, bool) {
	if image.DebugID == "" && image.Type == "elf" {
		image.DebugID = ELFDebugID(image.CodeID)
	}
	if !isDebugID(image.DebugID) {
		image.DebugID = ""
	}
	if _, ok := sentry.ParseID(image.UUID); !ok {
		image.UUID = ""
	}
	if !IsProfileImage(image.Type) {
		image.Type = "symbolic"
	}
	return image, image.DebugID != "" || image.UUID != ""
}

// ELFDebugID returns the debug ID of an ELF file: the first 16 bytes of its build ID, padded with
// zeros, as a GUID in little-endian byte order. It returns "" if the build ID is not hex.
// https://docs.sentry.io/platforms/native/data-management/debug-files/identifiers/
func ELFDebugID(buildID string) string {
	bytes, err := hex.DecodeString(buildID)
	if err != nil || len(bytes) == 0 {
		return ""
	}
	var id [16]byte
	copy(id[:], bytes)
	id[0], id[1], id[2], id[3] = id[3], id[2], id[1], id[0]
	id[4], id[5] = id[5], id[4]
	id[6], id[7] = id[7], id[6]
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// isDebugID reports whether Sentry can read a debug ID. It is a UUID, with or without hyphens, and
// an optional age of up to eight hex digits, with or without another hyphen; or the timestamp and
// age of an old PDB, 9 to 16 hex digits.
func isDebugID(text string) bool {
	if len(text) >= 36 && text[8] == '-' {
		if _, ok := sentry.ParseID(text[:36]); !ok || strings.Count(text[:36], "-") != 4 {
			return false
		}
		age, found := strings.CutPrefix(text[36:], "-")
		return text[36:] == "" || found && isHex(age, 1, 8)
	}
	if len(text) >= 32 {
		uuid, age := text[:32], strings.TrimPrefix(text[32:], "-")
		return isHex(uuid, 32, 32) && isHex(age, 0, 8)
	}
	return isHex(text, 9, 16)
}

func isHex(text string, minLen, maxLen int) bool {
	return len(text) >= minLen && len(text) <= maxLen && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}
