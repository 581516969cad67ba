// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

func isProfile(t sentry.ItemType) bool {
	return t == sentry.ItemProfile || t == sentry.ItemProfileChunk || t == sentry.ItemProfileChunkUI
}

// translateProfile makes an OTLP message of a profile item: decode, validate, translate. Its measurements also become metrics.
func (in *ingestion) translateProfile(ctx context.Context, item *sentry.Item) (deliveries []delivery, discard *discard.Error) {
	if discard := in.unsuitable(item); discard != nil {
		return nil, discard
	}
	decoder := profile.AcquireDecoder()
	defer decoder.Release()
	subject, err := in.decodeProfile(ctx, decoder, item)
	if err != nil {
		return in.onlyMeasurements(ctx, item, subject, discardOf(err))
	}
	in.profiles++ // those that cannot be used do not count against one_profile_per_envelope
	subject.Number = in.profiles
	if discard := in.validateProfile(ctx, subject); discard != nil {
		return nil, discard
	}
	in.traceLost(ctx, item, subject)
	src := in.profileSource(subject, item)
	if in.nextProfiles != nil {
		profiles := toProfiles(subject, src)
		in.output = outputWeight * int64(new(pprofile.ProtoMarshaler).ProfilesSize(profiles))
		deliveries = append(deliveries, in.profilesDelivery(item.Header.Type, profiles))
		if subject.Profile != nil {
			in.profileID = subject.Profile.EventID
			in.awaitSpans(subject.Profile, profiles)
		}
	}
	deliveries = append(deliveries, in.measurements(ctx, item, subject, src)...)
	if len(deliveries) > 0 {
		deliveries[0].ids = in.profileIDs(subject)
	}
	return deliveries, nil
}

// onlyMeasurements delivers the measurements of a profile whose trace is not decoded. Without any it is discarded.
func (in *ingestion) onlyMeasurements(ctx context.Context, item *sentry.Item, subject profile.Subject, why *discard.Error) ([]delivery, *discard.Error) {
	if undecoded(subject) == nil {
		return nil, why
	}
	deliveries := in.measurements(ctx, item, subject, in.profileSource(subject, item))
	if len(deliveries) == 0 {
		return nil, why
	}
	in.traceLost(ctx, item, subject)
	deliveries[0].ids = in.profileIDs(subject)
	return deliveries, nil
}

// traceLost counts the trace of a profile of which something else is used.
func (in *ingestion) traceLost(ctx context.Context, item *sentry.Item, subject profile.Subject) {
	if why := undecoded(subject); why != nil {
		in.telemetry.elementsLost(ctx, item.Header.Type, []discard.Loss{{Reason: why.Reason, Count: 1}})
	}
}

// undecoded is why the trace of a profile of Android is not used, nil for other profiles.
func undecoded(subject profile.Subject) *discard.Error {
	switch {
	case subject.Chunk != nil:
		return subject.Chunk.Undecoded
	case subject.Profile != nil:
		return subject.Profile.Undecoded
	}
	return nil
}

func (in *ingestion) profileIDs(subject profile.Subject) []dedup.ID {
	if subject.Chunk != nil {
		return in.itemIDs(sentry.ItemProfileChunk, subject.Chunk.ChunkID)
	}
	return in.itemIDs(sentry.ItemProfile, subject.Profile.EventID)
}

// unsuitable discards what need not be decoded to be discarded.
func (in *ingestion) unsuitable(item *sentry.Item) *discard.Error {
	size := len(item.Payload)
	meta := item.Header.MetaLength
	switch {
	// Perfetto chunks are JSON and then a binary trace. Without its length the JSON cannot be found.
	case meta.Set && (meta.Value <= 0 || meta.Value > size), !meta.Set && strings.EqualFold(item.Header.ContentType, sentry.ContentTypePerfetto):
		return &discard.Error{Reason: discard.ReasonUnsupportedFormat, Detail: "a Perfetto trace, expected JSON"}
	case int64(size) > in.cfg.MaxProfileSize:
		return &discard.Error{Reason: discard.ReasonExceedSizeLimit,
			Detail: fmt.Sprintf("%s of %d bytes, at most %d", item.Header.Type, size, in.cfg.MaxProfileSize)}
	}
	return nil
}

// decodeProfile decodes a payload into the subject of validation. The error is a *sentry.Discard.
func (in *ingestion) decodeProfile(ctx context.Context, decoder *profile.Decoder, item *sentry.Item) (s profile.Subject, err error) {
	s = profile.Subject{
		HeaderPlatform:  item.Header.Platform,
		Size:            len(item.Payload),
		WithTransaction: in.transaction() != nil || item.Header.Sampled == jsonscan.Some(false),
	}
	if item.Header.Type == sentry.ItemProfile {
		if s.Profile, err = decoder.Profile(item.Payload); s.Profile != nil {
			in.telemetry.samplesLost(ctx, s.Profile.Lost)
			in.telemetry.fieldsLost(ctx, item.Header.Type, s.Profile.Flaws)
		}
		return s, err
	}
	if meta := item.Header.MetaLength; meta.Set {
		s.Chunk, err = decoder.Perfetto(item.Payload[:meta.Value])
	} else {
		s.Chunk, err = decoder.Chunk(item.Payload)
	}
	if s.Chunk != nil {
		in.telemetry.samplesLost(ctx, s.Chunk.Lost)
		in.telemetry.fieldsLost(ctx, item.Header.Type, s.Chunk.Flaws)
	}
	return s, err
}

// validateProfile holds a profile against the published rules.
func (in *ingestion) validateProfile(ctx context.Context, subject profile.Subject) *discard.Error {
	for _, rule := range profile.BrokenRules(subject) {
		if in.strict() {
			return &discard.Error{Reason: rule.Strict, Detail: "breaks the rule " + rule.Name}
		}
		in.telemetry.ruleTolerated(ctx, rule.Name)
	}
	return nil
}

// profileSource is the source of a profile, and completes the profile by what stands elsewhere in the envelope.
func (in *ingestion) profileSource(subject profile.Subject, item *sentry.Item) fromsentry.Source {
	src := in.source()
	if in.cfg.KeepOriginalPayload {
		src.OriginalPayload = item.Payload
	}
	if subject.Chunk != nil {
		// Required in the payload; since the SDK specification 2.4.0 it also stands in the item header.
		subject.Chunk.Platform = cmp.Or(subject.Chunk.Platform, item.Header.Platform)
		return src
	}
	if !subject.Profile.Timestamp.Set {
		src.TransactionStart = in.transactionStart()
	}
	return src
}

func toProfiles(subject profile.Subject, src fromsentry.Source) pprofile.Profiles {
	if subject.Chunk != nil {
		return fromsentry.ChunkToProfiles(subject.Chunk, src)
	}
	return fromsentry.ProfileToProfiles(subject.Profile, src)
}

func discardOf(err error) *discard.Error {
	if discard, ok := errors.AsType[*discard.Error](err); ok {
		return discard
	}
	return &discard.Error{Reason: discard.ReasonInvalidJSON, Detail: err.Error()}
}
