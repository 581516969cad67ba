// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// ImageTexts are the texts of a debug image: the member of Sentry's schema, and the attribute of a
// mapping that states it, "" = none.
var ImageTexts = []struct {
	Member, Key string
	Of          func(*profile.Image) *string
}{
	{"type", semconv.SentryImageType, func(i *profile.Image) *string { return &i.Type }},
	{"code_file", "", func(i *profile.Image) *string { return &i.CodeFile }}, // the file name of the mapping
	{"code_id", semconv.SentryImageCodeID, func(i *profile.Image) *string { return &i.CodeID }},
	{"debug_file", semconv.SentryImageDebugFile, func(i *profile.Image) *string { return &i.DebugFile }},
	{"debug_id", semconv.SentryDebugID, func(i *profile.Image) *string { return &i.DebugID }},
	{"uuid", semconv.SentryImageUUID, func(i *profile.Image) *string { return &i.UUID }},
	{"arch", semconv.SentryImageArch, func(i *profile.Image) *string { return &i.Arch }},
}
