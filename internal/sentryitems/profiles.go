// SPDX-License-Identifier: Apache-2.0

package sentryitems

import (
	"cmp"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// outputWeight is the memory that a profile's OTLP needs, as a multiple of its encoded size. The
// OTLP of a profile is only a fifth of its JSON, so it is measured; other items keep their
// estimate. The smallest frames need ten times their size, and exporters encode the message.
const outputWeight = 16

// translateProfile decodes, validates and translates a profile item. Its measurements also become
// metrics.
func translateProfile(t *Translation, item *sentry.Item) (out Result) {
	if out.Unusable = unsuitable(t, item); out.Unusable != nil {
		return out
	}
	decoder := profile.AcquireDecoder()
	defer decoder.Release()
	decoder.Claim(t.claim)
	subject, err := decodeProfile(t, decoder, item, &out)
	if err != nil {
		out.Unusable = discardOf(err)
		return out
	}
	if out.Unusable = claimOutput(t, item, subject); out.Unusable != nil {
		return out
	}
	trace, why := decodeTrace(t, &subject, &out)
	if why != nil && subject.Sampled().Samples.Len() == 0 {
		onlyMeasurements(t, &out, item, subject, why)
		return out
	}
	t.profiles++ // unusable profiles do not count toward the rule one_profile_per_envelope
	subject.Number = t.profiles
	if out.Unusable = validateProfile(t, &out, subject); out.Unusable != nil {
		return out
	}
	if why != nil {
		out.addUnusableTrace(why)
		subject = subject.JavaScript()
	}
	src := profileSource(t, subject, item)
	if t.has(pipeline.SignalProfiles) {
		profiles := toProfiles(&out, subject, trace, src)
		out.Weight = outputWeight * int64(new(pprofile.ProtoMarshaler).ProfilesSize(profiles))
		out.Deliveries = one(pipeline.Profiles(profiles))
		out.Deliveries[0].LinkKey = t.linkKeys.ofProfiles(profiles)
		if subject.Profile != nil {
			t.profileID = subject.Profile.EventID
			t.awaitSpans(subject.Profile, trace, profiles)
		}
	}
	addMeasurements(t, &out, subject, src)
	if len(out.Deliveries) > 0 {
		out.Deliveries[0].IDs = profileIDs(t, subject)
	}
	return out
}

// onlyMeasurements translates the measurements of a profile whose trace cannot be decoded. A
// profile without measurements is then unusable.
func onlyMeasurements(t *Translation, out *Result, item *sentry.Item, subject profile.Subject, why *discard.Error) {
	addMeasurements(t, out, subject, profileSource(t, subject, item))
	if len(out.Deliveries) == 0 {
		out.Unusable = why
		return
	}
	out.addUnusableTrace(why)
	out.Deliveries[0].IDs = profileIDs(t, subject)
}

// claimOutput claims the memory for the translation of a decoded profile. For a Perfetto trace,
// fromsentry.Weight includes it.
func claimOutput(t *Translation, item *sentry.Item, subject profile.Subject) *discard.Error {
	if t.claim == nil || item.Header.MetaLength.Set {
		return nil
	}
	weight := fromsentry.ProfileWeight(subject, len(item.Payload))
	if t.settings.KeepOriginalPayload {
		weight += int64(len(item.Payload))
	}
	return t.reserve(weight)
}

func profileIDs(t *Translation, subject profile.Subject) []dedup.ID {
	if subject.Chunk != nil {
		return t.identity.ofItem(sentry.ItemProfileChunk, subject.Chunk.ChunkID)
	}
	return t.identity.ofItem(sentry.ItemProfile, subject.Profile.EventID)
}

// unsuitable returns an error for an item that is unusable regardless of its payload.
func unsuitable(t *Translation, item *sentry.Item) *discard.Error {
	size := len(item.Payload)
	meta := item.Header.MetaLength
	switch {
	// Perfetto chunks consist of JSON and a binary trace. Without the length of the JSON, they
	// cannot be separated.
	case meta.Set && (meta.Value <= 0 || meta.Value >= size), !meta.Set && strings.EqualFold(item.Header.ContentType, sentry.ContentTypePerfetto):
		return discard.Errorf(discard.ReasonInvalidSampledProfile, "the Perfetto trace must start after %d bytes of JSON, but the payload has %d bytes", meta.Value, size)
	case int64(size) > t.settings.MaxProfileSize:
		return &discard.Error{Reason: discard.ReasonExceedSizeLimit,
			Detail: fmt.Sprintf("%s of %d bytes, at most %d", item.Header.Type, size, t.settings.MaxProfileSize)}
	}
	return nil
}

// decodeProfile decodes a payload into the subject of validation. The error is a *discard.Error.
func decodeProfile(t *Translation, decoder *profile.Decoder, item *sentry.Item, out *Result) (s profile.Subject, err error) {
	s = profile.Subject{
		HeaderPlatform:  item.Header.Platform,
		Size:            len(item.Payload),
		WithTransaction: t.transactionItem() != nil || item.Header.Sampled == jsonscan.Some(false),
	}
	if item.Header.Type == sentry.ItemProfile {
		if s.Profile, err = decoder.Profile(item.Payload); s.Profile != nil {
			out.Samples, out.Fields = s.Profile.Lost, s.Profile.Flaws
		}
		return s, err
	}
	if meta := item.Header.MetaLength; meta.Set {
		s.Chunk, err = decoder.Perfetto(item.Payload[:meta.Value], item.Payload[meta.Value:])
	} else {
		s.Chunk, err = decoder.Chunk(item.Payload)
	}
	if s.Chunk != nil {
		out.Samples, out.Fields = s.Chunk.Lost, s.Chunk.Flaws
	}
	return s, err
}

// validateProfile checks a profile against the published rules.
func validateProfile(t *Translation, out *Result, subject profile.Subject) *discard.Error {
	for _, rule := range profile.BrokenRules(subject) {
		if t.strict() {
			return &discard.Error{Reason: rule.Strict, Detail: "breaks the rule " + rule.Name}
		}
		out.Tolerated = append(out.Tolerated, rule.Name)
	}
	return nil
}

// profileSource returns the source of a profile, and completes the profile with data from the rest
// of the envelope.
func profileSource(t *Translation, subject profile.Subject, item *sentry.Item) fromsentry.Source {
	src := t.source
	if t.settings.KeepOriginalPayload && !item.Header.MetaLength.Set { // the format "sentry" is JSON
		src.OriginalPayload = item.Payload
	}
	if subject.Chunk != nil {
		// Required in the payload; since the SDK specification 2.4.0 it is also in the item header.
		subject.Chunk.Platform = cmp.Or(subject.Chunk.Platform, item.Header.Platform)
		return src
	}
	if !subject.Profile.Timestamp.Set {
		src.TransactionStart = t.transactionStart()
	}
	return src
}

func toProfiles(out *Result, subject profile.Subject, trace *fromandroid.Trace, src fromsentry.Source) pprofile.Profiles {
	switch {
	case trace != nil:
		return androidToProfiles(out, subject, trace, src)
	case subject.Chunk != nil:
		return fromsentry.ChunkToProfiles(subject.Chunk, src)
	}
	return fromsentry.ProfileToProfiles(subject.Profile, src)
}
