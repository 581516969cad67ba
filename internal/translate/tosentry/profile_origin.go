// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"encoding/hex"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// origin describes the source of a profile.
type origin struct {
	attr.Identity
	fromSentry bool   // translated by fromsentry: absent fields were not sent and are not derived
	profilerID string // in Sentry's form; "" = none
	chunkID    string // the same; "" = none
}

func readOrigin(view dictionary.View, profile pprofile.Profile, id attr.Identity) origin {
	version := profileText(view, profile, semconv.SentryProfileVersion)
	src := origin{Identity: id, fromSentry: version != ""}
	if platform := profileText(view, profile, semconv.SentryPlatform); platform != "" { // next to a profile of another platform
		src.Platform = validPlatform(platform)
	}
	if id := profile.ProfileID(); !id.IsEmpty() {
		src.chunkID = hex.EncodeToString(id[:])
	} else {
		src.chunkID = sentryID(attr.FirstText(profileText(view, profile, semconv.SentryChunkID), profileText(view, profile, semconv.SentryProfileID)))
	}
	src.profilerID = sentryID(profileText(view, profile, semconv.SentryProfilerID))
	if src.profilerID == "" && version == "1" {
		src.profilerID = src.chunkID // spans refer to it by the same ID: see profilingOf
	}
	return src
}

// sentryID returns an ID in Sentry's form. It returns a hash if the text is not a UUID, and "" if
// it is empty.
func sentryID(text string) string {
	if text == "" {
		return ""
	}
	if bytes, ok := sentry.ParseID(text); ok {
		return hex.EncodeToString(bytes[:])
	}
	return attr.HashID("id", attr.Clip(text, attr.MaxFrameText)) // any number of profiles may refer to one text
}

func profileText(view dictionary.View, profile pprofile.Profile, key string) string {
	if value, ok := view.Get(profile.AttributeIndices(), key); ok && value.Type() == pcommon.ValueTypeStr {
		return value.Str()
	}
	return ""
}
