// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	sentryprofile "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// ProfileToProfiles translates a V1 profile with at least one sample.
func ProfileToProfiles(p *sentryprofile.Profile, src Source) pprofile.Profiles {
	out, profile, b := newProfile(profileIdentity(p, src), src)
	defer b.Release()

	attributes := attributeList{b: b}
	setProfileID(profile, &attributes, semconv.SentryProfileID, p.EventID)
	fillProfile(profile, &attributes, p, Anchor(p, src))
	finish(profile, &attributes, src)
	return out
}

// fillProfile fills in a V1 profile except for its ID.
func fillProfile(profile pprofile.Profile, attributes *attributeList, p *sentryprofile.Profile, start uint64) {
	attributes.text(semconv.SentryProfileVersion, p.Version)
	attributes.transaction(p.Transaction)
	attributes.measurements(p.Measurements, attr.KeyElapsed)

	_, last := timeRange(p.Samples.Time)
	setTimeRange(profile, start, start+last)

	images := newImageMap(attributes.b, p.DebugMeta.Images)
	translateSamples(profile, &p.Sampled, start, profileFrames(attributes.b, images, p))
	attributes.images(images.unmapped())
}

// ChunkToProfiles translates a V2 chunk with at least one sample. It never corrects clock drift,
// because the spans of the chunk arrive in other requests with different drifts.
func ChunkToProfiles(c *sentryprofile.Chunk, src Source) pprofile.Profiles {
	src.CorrectDrift = false
	out, profile, b := newProfile(chunkIdentity(c, src), src)
	defer b.Release()

	attributes := attributeList{b: b}
	setProfileID(profile, &attributes, semconv.SentryChunkID, c.ChunkID)
	fillChunk(profile, &attributes, c)
	finish(profile, &attributes, src)
	return out
}

// fillChunk fills in a V2 chunk except for its ID.
func fillChunk(profile pprofile.Profile, attributes *attributeList, c *sentryprofile.Chunk) {
	attributes.text(semconv.SentryProfileVersion, c.Version)
	attributes.text(semconv.SentryProfilerID, attr.SimpleID(c.ProfilerID))
	attributes.measurements(c.Measurements, attr.KeyTimestamp)

	first, last := timeRange(c.Samples.Time)
	setTimeRange(profile, first, last)

	images := newImageMap(attributes.b, c.DebugMeta.Images)
	translateSamples(profile, &c.Sampled, 0, chunkFrames(attributes.b, images, c))
	attributes.images(images.unmapped())
}

// newProfile returns a message with one resource, one scope and one profile.
func newProfile(id attr.Identity, src Source) (pprofile.Profiles, pprofile.Profile, *dictionary.Builder) {
	out := pprofile.NewProfiles()
	b := dictionary.NewBuilder(out.Dictionary())

	resource := out.ResourceProfiles().AppendEmpty()
	scope := resource.ScopeProfiles().AppendEmpty()
	describe(resource, scope, id, src)

	return out, addProfile(scope, b, src.PeriodType), b
}

func addProfile(scope pprofile.ScopeProfiles, b *dictionary.Builder, periodType string) pprofile.Profile {
	profile := scope.Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	dictionary.SetValueType(profile.PeriodType(), b.String(periodType), b.String("nanoseconds"))
	profile.SetPeriod(sentryprofile.NominalPeriod)
	return profile
}

// setTimeRange sets the time range of a profile. The range is half-open and ends one period after
// the last sample.
func setTimeRange(profile pprofile.Profile, first, last uint64) {
	profile.SetTime(pcommon.Timestamp(first))
	profile.SetDurationNano(last - first + sentryprofile.NominalPeriod)
}

// setProfileID sets the profile ID to the ID of the item. An ID that is not a UUID becomes an
// attribute.
func setProfileID(profile pprofile.Profile, attributes *attributeList, key, id string) {
	if bytes, ok := sentry.ParseID(id); ok {
		profile.SetProfileID(bytes)
		return
	}
	attributes.text(key, attr.SimpleID(id))
}

func finish(profile pprofile.Profile, attributes *attributeList, src Source) {
	attributes.clockDrift(src)
	dictionary.SetAttributes(profile.AttributeIndices(), attributes.indices...)
	if src.OriginalPayload != nil {
		payload.Set(profile, attr.OriginalPayloadFormat, src.OriginalPayload)
	}
	attributes.b.Finish()
}

// attributeList collects the attributes of a profile, sample, location or mapping.
type attributeList struct {
	b       *dictionary.Builder
	indices []dictionary.AttributeIndex
}

func (l *attributeList) add(key string, value dictionary.Value, unit string) {
	l.indices = append(l.indices, l.b.Attribute(key, value, unit))
}

func (l *attributeList) text(key, text string) {
	if text != "" {
		l.add(key, dictionary.StringValue(text), "")
	}
}

// decimal adds an int if the text is the canonical decimal form of an int64, else a string: thread
// IDs are numbers in OpenTelemetry's conventions, but any text in Sentry's.
func (l *attributeList) decimal(key, text string) {
	if text != "" {
		l.add(key, decimalValue(text), "")
	}
}

func decimalValue(text string) dictionary.Value {
	if number, ok := attr.CanonicalInt(text); ok {
		return dictionary.IntValue(number)
	}
	return dictionary.StringValue(text)
}

func (l *attributeList) uint(key string, u jsonscan.Uint, unit string) {
	switch {
	case !u.Set:
	case u.Value <= math.MaxInt64:
		l.add(key, dictionary.IntValue(int64(u.Value)), unit)
	default:
		l.add(key, dictionary.StringValue(strconv.FormatUint(u.Value, 10)), unit)
	}
}

// transaction adds the data of a V1 profile about its transaction: trace, event, thread and time
// range.
func (l *attributeList) transaction(t *sentryprofile.ProfileTransaction) {
	if t == nil {
		return
	}
	l.text(semconv.SentryTraceID, attr.SimpleID(t.TraceID))
	l.text(semconv.SentryTransactionID, attr.SimpleID(t.ID))
	l.text(semconv.SentrySegmentName, t.Name)
	l.text(semconv.SentrySegmentID, t.SegmentID)
	l.decimal(semconv.SentryActiveThreadID, t.ActiveThreadID.Text)
	l.uint(semconv.SentryTransactionRelativeStart, t.RelativeStartNS, attr.UnitNanoseconds)
	l.uint(semconv.SentryTransactionRelativeEnd, t.RelativeEndNS, attr.UnitNanoseconds)
	l.uint(semconv.SentryTransactionRelativeCPUStart, t.RelativeCPUStartMS, attr.UnitMilliseconds)
	l.uint(semconv.SentryTransactionRelativeCPUEnd, t.RelativeCPUEndMS, attr.UnitMilliseconds)
}
