package sentryreceiver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate"
)

// profileTypes are the items that the profiles signal consumes, and what SDKs are asked to hold back when its pipeline is
// full: V1 and V2 alike, whichever was refused.
var profileTypes = []sentry.ItemType{sentry.ItemProfile, sentry.ItemProfileChunk}

func isProfile(t sentry.ItemType) bool {
	return t == sentry.ItemProfile || t == sentry.ItemProfileChunk || t == sentry.ItemProfileChunkUI
}

// translateProfile makes an OTLP message of a profile item: decode, validate, translate.
func (in *ingestion) translateProfile(ctx context.Context, item *sentry.Item) (delivery, *sentry.Discard) {
	if discard := in.unsuitable(item); discard != nil {
		return delivery{}, discard
	}
	decoder := sentry.AcquireDecoder()
	defer decoder.Release()
	subject, err := in.decodeProfile(ctx, decoder, item)
	if err != nil {
		return delivery{}, discardOf(err)
	}
	in.profiles++ // those that cannot be used do not count against one_profile_per_envelope
	subject.Number = in.profiles
	if discard := in.validateProfile(ctx, subject); discard != nil {
		return delivery{}, discard
	}
	return in.profilesDelivery(item.Header.Type, in.toProfiles(subject, item)), nil
}

// unsuitable discards what need not be decoded to be discarded.
func (in *ingestion) unsuitable(item *sentry.Item) *sentry.Discard {
	switch size := len(item.Payload); {
	// Perfetto chunks are JSON and then a binary trace, and say so in one of two ways.
	case item.Header.MetaLength.Set, strings.EqualFold(item.Header.ContentType, sentry.ContentTypePerfetto):
		return &sentry.Discard{Reason: sentry.ReasonUnsupportedFormat, Detail: "a Perfetto trace, expected JSON"}
	case int64(size) > in.cfg.MaxProfileSize:
		return &sentry.Discard{Reason: sentry.ReasonExceedSizeLimit,
			Detail: fmt.Sprintf("%s of %d bytes, at most %d", item.Header.Type, size, in.cfg.MaxProfileSize)}
	}
	return nil
}

// decodeProfile decodes a payload into the subject of validation. The error is a *sentry.Discard.
func (in *ingestion) decodeProfile(ctx context.Context, decoder *sentry.Decoder, item *sentry.Item) (s sentry.Subject, err error) {
	s = sentry.Subject{
		HeaderPlatform:  item.Header.Platform,
		Size:            len(item.Payload),
		WithTransaction: in.transaction() != nil || item.Header.Sampled == sentry.Some(false),
	}
	if item.Header.Type == sentry.ItemProfile {
		if s.Profile, err = decoder.Profile(item.Payload); s.Profile != nil {
			in.telemetry.samplesLost(ctx, s.Profile.Lost)
		}
		return s, err
	}
	if s.Chunk, err = decoder.Chunk(item.Payload); s.Chunk != nil {
		in.telemetry.samplesLost(ctx, s.Chunk.Lost)
	}
	return s, err
}

// validateProfile holds a profile against the published rules.
func (in *ingestion) validateProfile(ctx context.Context, subject sentry.Subject) *sentry.Discard {
	for _, rule := range sentry.Broken(subject) {
		if in.cfg.Validation == sentry.Strict {
			return &sentry.Discard{Reason: rule.Strict, Detail: "breaks the rule " + rule.Name}
		}
		in.telemetry.ruleTolerated(ctx, rule.Name)
	}
	return nil
}

func (in *ingestion) toProfiles(subject sentry.Subject, item *sentry.Item) pprofile.Profiles {
	src := translate.Source{
		ProjectID:    in.auth.ProjectID,
		SDK:          in.sdk(),
		ReceivedNano: uint64(in.received.UnixNano()),
		PeriodType:   in.cfg.ProfileType,
	}
	if in.cfg.KeepOriginalPayload {
		src.OriginalPayload = item.Payload
	}
	if subject.Chunk != nil {
		// Required in the payload; since the SDK specification 2.4.0 it also stands in the item header.
		subject.Chunk.Platform = cmp.Or(subject.Chunk.Platform, item.Header.Platform)
		return translate.ChunkToProfiles(subject.Chunk, src)
	}
	if transaction := in.transaction(); transaction != nil && !subject.Profile.Timestamp.Set {
		src.TransactionStart, _ = sentry.TransactionTimes(transaction.Payload)
	}
	return translate.ProfileToProfiles(subject.Profile, src)
}

// profilesDelivery hands profiles on, and reports it as all receivers do.
func (in *ingestion) profilesDelivery(item sentry.ItemType, profiles pprofile.Profiles) delivery {
	return delivery{item: item, stops: profileTypes, send: func(ctx context.Context) error {
		samples := profiles.SampleCount() // consumers may change what they are given
		ctx = in.obsreport.StartProfilesOp(ctx)
		err := in.nextProfiles.ConsumeProfiles(ctx, profiles)
		in.obsreport.EndProfilesOp(ctx, dataFormat, samples, err)
		return err
	}}
}

func discardOf(err error) *sentry.Discard {
	if discard, ok := errors.AsType[*sentry.Discard](err); ok {
		return discard
	}
	return &sentry.Discard{Reason: sentry.ReasonInvalidJSON, Detail: err.Error()}
}
