// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// SimpleID is the form in which Sentry compares ids: 32 lower-case hex digits. Text that is no UUID stays as it is, clipped.
func SimpleID(id string) string {
	if bytes, ok := sentry.ParseID(id); ok {
		return hex.EncodeToString(bytes[:])
	}
	return Clip(id, MaxIDBytes)
}

// SameID says whether two texts are the same id.
func SameID(a, b string) bool { return SimpleID(a) == SimpleID(b) }

// HashID makes an id in Sentry's form of texts.
func HashID(parts ...string) string {
	var all []byte
	for _, part := range parts { // with their lengths: no two lists run together alike
		all = append(binary.AppendUvarint(all, uint64(len(part))), part...)
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:16])
}

// DecodeHex fills dst from exactly as many hex digits as it takes.
func DecodeHex(dst []byte, text string) bool {
	if len(text) != 2*len(dst) {
		return false
	}
	_, err := hex.Decode(dst, []byte(text))
	return err == nil
}

func SpanIDOf(text string) (id pcommon.SpanID) {
	DecodeHex(id[:], text)
	return id
}
