package translate

import (
	"encoding/hex"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary"
)

// origin is what a chunk says about where its samples are from.
type origin struct {
	identity
	fromSentry bool   // made by this package: what is absent was not sent, and nothing is made up
	profilerID string // in Sentry's form; "" = none
	chunkID    string // likewise; "" = none
}

func readOrigin(view dictionary.View, profile pprofile.Profile, id identity) origin {
	version := profileText(view, profile, keyFormatVersion)
	src := origin{identity: id, fromSentry: version != ""}
	if id := profile.ProfileID(); !id.IsEmpty() {
		src.chunkID = hex.EncodeToString(id[:])
	} else {
		src.chunkID = sentryID(firstText(profileText(view, profile, keyChunkID), profileText(view, profile, keyProfileID)))
	}
	src.profilerID = sentryID(profileText(view, profile, keyProfilerID))
	if src.profilerID == "" && version == "1" {
		src.profilerID = src.chunkID // its spans name it by the same id: see profilingOf
	}
	return src
}

// sentryID is an id in Sentry's form: of text that is no UUID one that is made of it, "" where there is none.
func sentryID(text string) string {
	if text == "" {
		return ""
	}
	if bytes, ok := parseID(text); ok {
		return hex.EncodeToString(bytes[:])
	}
	return hashID("id", clip(text, maxFrameText)) // any number of profiles may refer to one text
}

func profileText(view dictionary.View, profile pprofile.Profile, key string) string {
	if value, ok := view.Get(profile.AttributeIndices(), key); ok && value.Type() == pcommon.ValueTypeStr {
		return value.Str()
	}
	return ""
}
