// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// SimpleID returns an ID in the form that Sentry compares: 32 lower-case hex digits. Other text is
// only clipped.
func SimpleID(id string) string {
	if bytes, ok := sentry.ParseID(id); ok {
		return hex.EncodeToString(bytes[:])
	}
	return Clip(id, MaxIDBytes)
}

// SameID reports whether two texts are the same ID.
func SameID(a, b string) bool { return SimpleID(a) == SimpleID(b) }

// HashID derives an ID in Sentry's form from texts.
func HashID(parts ...string) string {
	var all []byte
	for _, part := range parts { // with lengths, so that different lists never yield the same bytes
		all = append(binary.AppendUvarint(all, uint64(len(part))), part...)
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:16])
}

// DecodeHex fills dst. It reports whether the text has exactly the required number of hex digits;
// otherwise, it leaves dst empty.
func DecodeHex(dst []byte, text string) bool {
	if len(text) != 2*len(dst) {
		return false
	}
	_, err := hex.Decode(dst, []byte(text))
	if err != nil {
		clear(dst)
	}
	return err == nil
}

// TraceText returns a trace ID as hex digits, or "" if it is empty.
func TraceText(id pcommon.TraceID) string {
	if id.IsEmpty() {
		return ""
	}
	var text [2 * len(id)]byte // hex.EncodeToString would allocate twice
	hex.Encode(text[:], id[:])
	return string(text[:])
}

// SpanText returns a span ID as hex digits, or "" if it is empty.
func SpanText(id pcommon.SpanID) string {
	if id.IsEmpty() {
		return ""
	}
	var text [2 * len(id)]byte
	hex.Encode(text[:], id[:])
	return string(text[:])
}

// TraceIDOf returns the trace ID of a text, empty if the text is none.
func TraceIDOf(text string) (id pcommon.TraceID) {
	DecodeHex(id[:], text)
	return id
}

// SpanIDOf returns the span ID of a text, empty if the text is none.
func SpanIDOf(text string) (id pcommon.SpanID) {
	DecodeHex(id[:], text)
	return id
}
