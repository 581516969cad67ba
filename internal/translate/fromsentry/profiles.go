// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"math"
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	sentryprofile "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
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

	setTimeRange(profile, start, start+slices.Max(p.Samples.Time)) // Java sends times out of order

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

	setTimeRange(profile, slices.Min(c.Samples.Time), slices.Max(c.Samples.Time))

	images := newImageMap(attributes.b, c.DebugMeta.Images)
	frames := newFrameTranslator(attributes.b, images, c.Frames, c.Platform)
	frames.tagged = c.Platform == "cocoa" // a chunk does not state its architecture
	translateSamples(profile, &c.Sampled, 0, frames)
	attributes.images(images.unmapped())
}

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

// decimalValue is an int if the text is the canonical decimal form of an int64, else a string:
// thread IDs are numbers in OpenTelemetry's conventions, but any text in Sentry's.
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
	if id := t.ActiveThreadID.Text; id != "" {
		l.add(semconv.SentryActiveThreadID, decimalValue(id), "")
	}
	l.uint(semconv.SentryTransactionRelativeStart, t.RelativeStartNS, attr.UnitNanoseconds)
	l.uint(semconv.SentryTransactionRelativeEnd, t.RelativeEndNS, attr.UnitNanoseconds)
	l.uint(semconv.SentryTransactionRelativeCPUStart, t.RelativeCPUStartMS, attr.UnitMilliseconds)
	l.uint(semconv.SentryTransactionRelativeCPUEnd, t.RelativeCPUEndMS, attr.UnitMilliseconds)
}

// AndroidProfileToProfiles translates a V1 profile from Android: its trace and, as a second profile
// of the resource, the JavaScript profile of React Native. placed is false if only the time of
// receipt indicates when the trace began.
func AndroidProfileToProfiles(p *sentryprofile.Profile, trace *fromandroid.Trace, src Source) (out pprofile.Profiles, placed bool) {
	out, native, b := newProfile(profileIdentity(p, src), ofTrace(src, trace))
	defer b.Release()
	start, placed := profileTraceStart(p, trace, src)

	attributes := attributeList{b: b}
	attributes.text(semconv.SentryProfileVersion, p.Version)
	setProfileID(native, &attributes, semconv.SentryProfileID, p.EventID)
	attributes.transaction(p.Transaction)
	attributes.measurements(p.Measurements, attr.KeyElapsed)
	attributes.images(p.DebugMeta.WithoutSourceMaps().Images)
	attributes.indices = append(attributes.indices, trace.AddTo(native, b, start)...)
	finish(native, &attributes, src)

	if p.Samples.Len() > 0 {
		js := p.JavaScript()
		js.Measurements = nil // they are on the trace profile
		addJavaScript(out, b, p.EventID, src, func(second pprofile.Profile, beside *attributeList) {
			beside.text(semconv.SentryProfilerID, attr.SimpleID(p.EventID)) // the session of both profiles, to which spans refer
			fillProfile(second, beside, js, start)
		})
	}
	return out, placed
}

// AndroidChunkToProfiles is AndroidProfileToProfiles for chunks. Like those of other chunks, times
// are not corrected.
func AndroidChunkToProfiles(c *sentryprofile.Chunk, trace *fromandroid.Trace, src Source) (out pprofile.Profiles, placed bool) {
	src.CorrectDrift = false
	out, native, b := newProfile(chunkIdentity(c, src), ofTrace(src, trace))
	defer b.Release()
	start, placed := chunkTraceStart(c, trace, src)

	attributes := attributeList{b: b}
	attributes.text(semconv.SentryProfileVersion, c.Version)
	attributes.text(semconv.SentryProfilerID, attr.SimpleID(c.ProfilerID))
	setProfileID(native, &attributes, semconv.SentryChunkID, c.ChunkID)
	attributes.measurements(c.Measurements, attr.KeyTimestamp)
	attributes.images(c.DebugMeta.WithoutSourceMaps().Images)
	attributes.indices = append(attributes.indices, trace.AddTo(native, b, start)...)
	attributes.indices = append(attributes.indices, trace.ActiveThread(b)...)
	finish(native, &attributes, src)

	if c.Samples.Len() > 0 {
		js := c.JavaScript()
		js.Measurements = nil
		addJavaScript(out, b, c.ChunkID, src, func(second pprofile.Profile, beside *attributeList) { fillChunk(second, beside, js) })
	}
	return out, placed
}

// javaScriptPlatform is the platform of the second profile. The resource has the platform of the
// first one.
const javaScriptPlatform = "javascript"

// addJavaScript adds the JavaScript profile to that of a trace, which keeps the payload. Its ID is
// derived from the ID of the item.
func addJavaScript(out pprofile.Profiles, b *dictionary.Builder, id string, src Source, fill func(pprofile.Profile, *attributeList)) {
	profile := addProfile(out.ResourceProfiles().At(0).ScopeProfiles().At(0), b, src.PeriodType)
	attributes := attributeList{b: b}
	setProfileID(profile, &attributes, semconv.SentryProfileID, attr.HashID(javaScriptPlatform, attr.SimpleID(id)))
	attributes.text(semconv.SentryPlatform, javaScriptPlatform)
	fill(profile, &attributes)
	src.OriginalPayload = nil
	finish(profile, &attributes, src)
}

func ofTrace(src Source, trace *fromandroid.Trace) Source {
	src.PeriodType = trace.PeriodType(src.PeriodType)
	return src
}

// profileTraceStart returns the instant from which the times of a V1 profile's trace count. The
// trace itself counts from boot.
func profileTraceStart(p *sentryprofile.Profile, trace *fromandroid.Trace, src Source) (start uint64, placed bool) {
	switch {
	case p.Timestamp.Set:
		return src.unixNano(p.Timestamp), true
	case src.TransactionStart.Set:
		start := src.unixNano(src.TransactionStart)
		if p.Transaction != nil {
			start -= min(p.Transaction.RelativeStartNS.Value, start)
		}
		return start, true
	}
	return receivedTraceStart(trace, src)
}

// chunkTraceStart is profileTraceStart for chunks. Perfetto traces contain Unix times.
func chunkTraceStart(c *sentryprofile.Chunk, trace *fromandroid.Trace, src Source) (start uint64, placed bool) {
	if c.Android.Timestamp.Set && c.Android.PerfettoTrace == nil {
		return c.Android.Timestamp.UnixNano, true
	}
	return receivedTraceStart(trace, src)
}

func receivedTraceStart(trace *fromandroid.Trace, src Source) (start uint64, placed bool) {
	if trace.Start > 0 {
		return min(trace.Start, math.MaxInt64), true
	}
	return src.ReceivedNano - min(uint64(trace.First+trace.Duration), src.ReceivedNano), false
}
