// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Validation states how to treat profiles that break a published rule.
type Validation string

const (
	// Lenient keeps usable data and counts unusable data: the payloads of real SDKs break several
	// rules.
	Lenient Validation = "lenient"
	// Strict discards the profile, with the reason that Sentry's ingest reports.
	Strict Validation = "strict"
)

// Subject is a decoded profile, with the facts about its item and envelope that the rules need.
// Exactly one of Profile and Chunk is set.
type Subject struct {
	Profile *Profile
	Chunk   *Chunk

	HeaderPlatform  string // "platform" of the item header
	Number          int    // 1 for the first profile of its envelope, 2 for the second, …
	Size            int    // bytes of the payload
	TraceNanos      uint64 // duration of an Android trace; 0 = no trace was decoded
	WithTransaction bool   // the envelope has a transaction, or the item header states that there is none ("sampled":false)
}

// Rule is one published rule, and the treatment of a profile that breaks it. A test runs the case
// of each row in both modes.
type Rule struct {
	Name    string
	Strict  discard.Reason // reason with which a strict receiver discards the profile
	Lenient string         // treatment by a lenient receiver
	Case    string         // its example, a folder of testdata/cases

	broken func(Subject) bool
}

// Rules are the published rules for profiles: the SDK specification "Profiles"
// (develop.sentry.dev/sdk/telemetry/profiles) and the checks of Sentry's ingest (relay-profiling).
// A strict receiver reports the first broken one.
//
// Some payloads are discarded in both modes, because nothing usable is left: invalid JSON, a
// payload without any usable sample, and a payload beyond the size limit (Decoder, MaxProfileSize).
var Rules = []Rule{
	{"payload_size", discard.ReasonExceedSizeLimit, "discarded too", "rule-payload-size", func(s Subject) bool {
		return s.Size > sentry.MaxProfileSize
	}},
	{"one_profile_per_envelope", discard.ReasonTooManyProfiles, "every profile is kept", "rule-one-profile-per-envelope", func(s Subject) bool {
		return s.Number > 1
	}},
	{"field_types", discard.ReasonInvalidJSON, "the field is converted or dropped; a sample without a required field is dropped", "rule-field-types", func(s Subject) bool {
		return len(s.Sampled().Flaws) > 0 || s.lost(discard.ReasonInvalidJSON) || s.lost(discard.ReasonTimeOutOfRange) || s.badScalars()
	}},
	{"measurement_unit", discard.ReasonInvalidJSON, "the measurement is kept with its unit", "rule-measurement-unit", func(s Subject) bool {
		for _, m := range s.Measurements() {
			if !measurementUnits[m.Unit] {
				return true
			}
		}
		return false
	}},
	{"image_type", discard.ReasonInvalidJSON, "the image is kept", "rule-image-type", func(s Subject) bool {
		for _, image := range s.Images() {
			if !imageTypes[image.Type] {
				return true
			}
		}
		return false
	}},
	{"id_form", discard.ReasonInvalidJSON, "UUIDs are accepted in any form; other text is kept as an attribute", "rule-id-form", func(s Subject) bool {
		if s.Chunk != nil {
			return !jsonscan.IsSimpleID(s.Chunk.ChunkID) || !jsonscan.IsSimpleID(s.Chunk.ProfilerID)
		}
		return !jsonscan.IsSimpleID(s.Profile.EventID)
	}},
	{"metadata", discard.ReasonInvalidMetadata, "missing fields stay unset; a missing V1 anchor is derived from the transaction, else from the time of receipt", "rule-metadata", func(s Subject) bool {
		if c := s.Chunk; c != nil {
			return c.Platform == "" || c.ClientSDK.Name == "" || c.ClientSDK.Version == ""
		}
		return s.Profile.Android == nil && s.Profile.lacksMetadata() // Android's legacy format has other fields
	}},
	{"platform_header", discard.ReasonInvalidProfileType, "the payload's platform is used", "rule-platform-header", func(s Subject) bool {
		return s.Chunk != nil && s.HeaderPlatform != "" && s.Chunk.Platform != "" && s.HeaderPlatform != s.Chunk.Platform
	}},
	{"transaction", discard.ReasonNoTransaction, "kept without a transaction", "rule-transaction", func(s Subject) bool {
		return s.Profile != nil && (s.Profile.Transaction == nil || !s.WithTransaction)
	}},
	{"transaction_metadata", discard.ReasonInvalidTransaction, "missing fields stay unset", "rule-transaction-metadata", func(s Subject) bool {
		return s.Profile != nil && s.Profile.Transaction != nil && s.Profile.Transaction.lacksMetadata()
	}},
	{"stack_exists", discard.ReasonMalformedSamples, "samples without a stack are dropped", "rule-stack-exists", func(s Subject) bool {
		return s.lost(discard.ReasonMalformedSamples)
	}},
	{"frame_exists", discard.ReasonMalformedStacks, "samples whose stack lacks a frame are dropped", "rule-frame-exists", func(s Subject) bool {
		return s.Sampled().Stacks.dangling > 0
	}},
	{"enough_samples", discard.ReasonNotEnoughSamples, "single samples are kept", "rule-enough-samples", func(s Subject) bool {
		return !s.hasThreadWithTwoSamples()
	}},
	{"duration", discard.ReasonDurationTooLong, "kept", "rule-duration", func(s Subject) bool {
		return s.durationNanos() > s.maxDurationNanos()
	}},
}

// BrokenRules returns the rules that a decoded profile breaks, in the order of Rules.
func BrokenRules(s Subject) []*Rule {
	var broken []*Rule
	for i := range Rules {
		if Rules[i].broken(s) {
			broken = append(broken, &Rules[i])
		}
	}
	return broken
}

// measurementUnits are the units that Sentry's ingest knows. It rejects profiles with other units.
var measurementUnits = map[string]bool{
	"nanosecond": true, "ns": true, "hertz": true, "hz": true, "byte": true, "percent": true, "nanojoule": true, "nj": true,
}

// imageTypes are the image types that Sentry's ingest accepts. It rejects profiles with other
// types.
var imageTypes = map[string]bool{"macho": true, "symbolic": true, "sourcemap": true, "proguard": true, "jvm": true}

func (p *Profile) lacksMetadata() bool {
	d, os := p.Device, p.OS
	if p.Platform == "" || !p.Timestamp.Set || d.Architecture == nil || os.Name == nil || os.Version == nil {
		return true
	}
	return p.Platform == "cocoa" &&
		(d.IsEmulator == nil || d.Locale == nil || d.Manufacturer == nil || d.Model == nil || os.BuildNumber == nil)
}

func (t *ProfileTransaction) lacksMetadata() bool {
	return t.Name == "" || strings.Trim(t.ID, "0-") == "" || strings.Trim(t.TraceID, "0-") == ""
}

// Android returns the trace of an Android profile, or nil for other profiles.
func (s Subject) Android() *Android {
	if s.Chunk != nil {
		return s.Chunk.Android
	}
	return s.Profile.Android
}

// JavaScript returns the JavaScript part of an Android profile.
func (s Subject) JavaScript() Subject {
	if s.Chunk != nil {
		s.Chunk = s.Chunk.JavaScript()
	} else {
		s.Profile = s.Profile.JavaScript()
	}
	return s
}

// Sampled returns the samples of the profile.
func (s Subject) Sampled() *Sampled {
	if s.Chunk != nil {
		return &s.Chunk.Sampled
	}
	return &s.Profile.Sampled
}

// Measurements returns the series of the profile.
func (s Subject) Measurements() []Measurement {
	if s.Chunk != nil {
		return s.Chunk.Measurements
	}
	return s.Profile.Measurements
}

// Images returns the debug images of the profile.
func (s Subject) Images() []Image {
	if s.Chunk != nil {
		return s.Chunk.DebugMeta.Images
	}
	return s.Profile.DebugMeta.Images
}

func (s Subject) lost(reason discard.Reason) bool {
	for _, loss := range s.Sampled().Lost {
		if loss.Reason == reason {
			return true
		}
	}
	return false
}

// badScalars reports whether a scalar is marked Bad (jsonscan/scalar.go).
func (s Subject) badScalars() bool {
	if s.Profile == nil {
		return false
	}
	t := s.Profile.Transaction
	return s.Profile.Timestamp.Bad || t != nil && (t.ActiveThreadID.Bad ||
		t.RelativeStartNS.Bad || t.RelativeEndNS.Bad || t.RelativeCPUStartMS.Bad || t.RelativeCPUEndMS.Bad)
}

// hasThreadWithTwoSamples reports whether ingest would keep any part of a profile. Ingest removes
// threads with fewer than two non-idle samples. In V1, it first removes idle samples at both ends,
// and it also cuts the profile to the time range of its transaction.
func (s Subject) hasThreadWithTwoSamples() bool {
	if s.TraceNanos > 0 { // traces without samples are unusable
		return true
	}
	sampled := s.Sampled()
	from, to := s.window()
	seen := make([]bool, len(sampled.Threads))
	for i, thread := range sampled.Samples.Thread {
		idle := len(sampled.Stacks.At(sampled.Samples.Stack[i])) == 0
		if time := sampled.Samples.Time[i]; idle || time < from || time > to {
			continue
		}
		if seen[thread] {
			return true
		}
		seen[thread] = true
	}
	return false
}

// window returns the part of a V1 profile that its transaction covers, in nanoseconds from the
// anchor, both ends included.
func (s Subject) window() (from, to uint64) {
	if s.Profile == nil || s.Profile.Transaction == nil || s.Profile.Transaction.RelativeEndNS.Value == 0 {
		return 0, math.MaxUint64
	}
	return s.Profile.Transaction.RelativeStartNS.Value, s.Profile.Transaction.RelativeEndNS.Value
}

// durationNanos returns the time from the first to the last sample, as in the specification and in
// ingest of V2. (For V1, ingest uses the last element of the list and does not subtract the first.)
func (s Subject) durationNanos() uint64 {
	if s.Sampled().Samples.Len() == 0 {
		return s.TraceNanos
	}
	first, last := uint64(math.MaxUint64), uint64(0)
	for _, t := range s.Sampled().Samples.Time {
		first, last = min(first, t), max(last, t)
	}
	return max(last-first, s.TraceNanos)
}

func (s Subject) maxDurationNanos() uint64 {
	if s.Chunk != nil {
		return sentry.MaxChunkSeconds * jsonscan.NanosPerSecond
	}
	return sentry.MaxProfileSeconds * jsonscan.NanosPerSecond
}

// IsMeasurementUnit reports whether Sentry's ingest knows the unit. It rejects profiles with other
// units.
func IsMeasurementUnit(unit string) bool { return measurementUnits[unit] }

// IsProfileImage reports whether Sentry's ingest accepts images of the type. It rejects profiles
// with other images.
func IsProfileImage(imageType string) bool { return imageTypes[imageType] }
