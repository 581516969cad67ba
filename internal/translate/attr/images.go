// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// ImageTexts are the texts of a debug image: the member of Sentry's schema, and the attribute of a
// mapping that states it, "" = none.
var ImageTexts = []struct{ Member, Key string }{
	{"type", semconv.SentryImageType},
	{"code_file", ""}, // the file name of the mapping
	{"code_id", semconv.SentryImageCodeID},
	{"debug_file", semconv.SentryImageDebugFile},
	{"debug_id", semconv.SentryDebugID},
	{"uuid", semconv.SentryImageUUID},
	{"arch", semconv.SentryImageArch},
}

// ImageText returns the place of one of ImageTexts. It is no function in the table, because each
// image would then need an allocation.
func ImageText(image *profile.Image, member string) *string {
	switch member {
	case "type":
		return &image.Type
	case "code_file":
		return &image.CodeFile
	case "code_id":
		return &image.CodeID
	case "debug_file":
		return &image.DebugFile
	case "debug_id":
		return &image.DebugID
	case "uuid":
		return &image.UUID
	}
	return &image.Arch
}
