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
	swapGUID(id[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// swapGUID converts a GUID between big-endian and little-endian byte order.
func swapGUID(id []byte) {
	id[0], id[1], id[2], id[3] = id[3], id[2], id[1], id[0]
	id[4], id[5] = id[5], id[4]
	id[6], id[7] = id[7], id[6]
}

// BuildID returns the ID that the linker wrote into the file of an image, in hex, as far as the
// debug ID contains it: LC_UUID of Mach-O, GUID and age (32 bits, if it is not 0) of a PDB, or
// the first 16 bytes of the build ID of ELF. It returns "" if Sentry cannot read the debug ID.
func (i *Image) BuildID() string {
	if !isDebugID(i.DebugID) {
		return ""
	}
	digits, first := strings.ToLower(strings.ReplaceAll(i.DebugID, "-", "")), 32
	if len(digits) < first {
		first = 8 // the timestamp of an old PDB
	}
	id, age := digits[:first], strings.TrimLeft(digits[first:], "0")
	if bytes, err := hex.DecodeString(id); err == nil && i.Type == "elf" && len(bytes) == 16 {
		swapGUID(bytes)
		id = hex.EncodeToString(bytes)
	}
	if age != "" {
		id += strings.Repeat("0", 8-len(age)) + age
	}
	return id
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
