// SPDX-License-Identifier: Apache-2.0

// Package debugid reads the debug IDs that crash reports and profiles use to refer to a file with
// debug symbols: the GNU build ID of an ELF file, the UUIDs of the Mach-O files in a dSYM, the UUID
// of a ProGuard mapping.
//
// Anybody with the key of an app can upload a file, so this package reads headers only, within
// bounds. debug/elf and debug/macho also read name tables and symbols, of any size that the file
// states: only their structures and constants are used.
package debugid

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"io"

	"github.com/google/uuid"
)

// Debug IDs are lower-case hex without dashes.

// ErrNone is the error of a readable file without a debug ID.
var ErrNone = errors.New("the file has no debug id")

// proguardSpace is the namespace of the UUIDs of ProGuard and R8 mappings in Sentry's tools.
var proguardSpace = uuid.NewSHA1(uuid.NameSpaceDNS, []byte("guardsquare.com"))

// ProGuard returns the UUID (version 5) of the mapping's bytes.
func ProGuard(mapping io.Reader) (string, error) {
	hash := sha1.New()
	hash.Write(proguardSpace[:])
	if _, err := io.Copy(hash, mapping); err != nil {
		return "", err
	}
	id := uuid.UUID(hash.Sum(nil)[:16])
	id[6] = id[6]&0x0f | 5<<4
	id[8] = id[8]&0x3f | 0x80
	return hex.EncodeToString(id[:]), nil
}
