// SPDX-License-Identifier: Apache-2.0

// Package debugid finds out which binaries a file with debug symbols belongs to, by the identity that crash reports and
// profiles carry: the GNU build id of an ELF file, the UUIDs of the Mach-O files in a dSYM, the UUID of a ProGuard mapping.
//
// The files come from anybody who has the key of an app, so nothing is read but headers, and those within bounds. debug/elf and
// debug/macho read name tables and symbols too, of whatever size the file says and without a way to stop them: only their
// structures and numbers are used.
package debugid

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"io"

	"github.com/google/uuid"
)

// Identities are lower-case hex, without dashes.

// ErrNone is the error of a file that is readable and has no identity.
var ErrNone = errors.New("the file has no debug id")

// proguardSpace is the namespace in which ProGuard and R8 mappings get their UUID, as Sentry's tools have it.
var proguardSpace = uuid.NewSHA1(uuid.NameSpaceDNS, []byte("guardsquare.com"))

// ProGuard is the UUID (version 5) of the mapping's bytes.
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
