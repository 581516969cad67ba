// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
)

// AndroidProfileToProfiles translates a V1 profile from Android: its trace and, as a second profile
// of the resource, the JavaScript profile of React Native. placed is false if only the time of
// receipt indicates when the trace began.
func AndroidProfileToProfiles(p *profile.Profile, trace *fromandroid.Trace, src Source) (out pprofile.Profiles, placed bool) {
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
		js, beside := p.JavaScript(), attributeList{b: b}
		js.Measurements = nil // they are on the trace profile
		second := addJavaScript(out, &beside, p.EventID, src)
		beside.text(semconv.SentryProfilerID, attr.SimpleID(p.EventID)) // the session of both profiles, to which spans refer
		fillProfile(second, &beside, js, start)
		finish(second, &beside, withoutPayload(src))
	}
	return out, placed
}

// AndroidChunkToProfiles is AndroidProfileToProfiles for chunks. Like those of other chunks, times
// are not corrected.
func AndroidChunkToProfiles(c *profile.Chunk, trace *fromandroid.Trace, src Source) (out pprofile.Profiles, placed bool) {
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
		js, beside := c.JavaScript(), attributeList{b: b}
		js.Measurements = nil
		second := addJavaScript(out, &beside, c.ChunkID, src)
		fillChunk(second, &beside, js)
		finish(second, &beside, withoutPayload(src))
	}
	return out, placed
}

// javaScriptPlatform is the platform of the second profile. The resource has the platform of the
// first one.
const javaScriptPlatform = "javascript"

// addJavaScript adds the JavaScript profile to that of a trace. Its ID is derived from the ID of
// the item.
func addJavaScript(out pprofile.Profiles, attributes *attributeList, id string, src Source) pprofile.Profile {
	scope := out.ResourceProfiles().At(0).ScopeProfiles().At(0)
	profile := addProfile(scope, attributes.b, src.PeriodType)
	setProfileID(profile, attributes, semconv.SentryProfileID, attr.HashID(javaScriptPlatform, attr.SimpleID(id)))
	attributes.text(semconv.SentryPlatform, javaScriptPlatform)
	return profile
}

// ofTrace returns the source of a trace profile.
func ofTrace(src Source, trace *fromandroid.Trace) Source {
	src.PeriodType = trace.PeriodType(src.PeriodType)
	return src
}

// withoutPayload returns the source of a profile whose payload is kept on the other profile.
func withoutPayload(src Source) Source {
	src.OriginalPayload = nil
	return src
}

// profileTraceStart returns the instant from which the times of a V1 profile's trace count. The
// trace itself counts from boot.
func profileTraceStart(p *profile.Profile, trace *fromandroid.Trace, src Source) (start uint64, placed bool) {
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
func chunkTraceStart(c *profile.Chunk, trace *fromandroid.Trace, src Source) (start uint64, placed bool) {
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
