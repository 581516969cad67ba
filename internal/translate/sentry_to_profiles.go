package translate

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// ProfileToProfiles translates a V1 profile that has at least one sample.
func ProfileToProfiles(p *sentry.Profile, src Source) pprofile.Profiles {
	out, profile, b := newProfile(profileIdentity(p, src), src)
	defer b.Release()

	attributes := attributeList{b: b}
	attributes.text(keyFormatVersion, p.Version)
	setProfileID(profile, &attributes, keyProfileID, p.EventID)
	attributes.transaction(p.Transaction)
	attributes.measurements(p.Measurements, keyElapsed)

	start := anchor(p, src)
	_, last := timeRange(p.Samples.Time)
	setTimeRange(profile, start, start+last)

	images := newImageMap(b, p.DebugMeta.Images)
	translateSamples(profile, &p.Sampled, start, profileFrames(b, images, p))
	attributes.images(images.unmapped())

	finish(profile, b, &attributes, src)
	return out
}

// ChunkToProfiles translates a V2 chunk that has at least one sample. Its times stay the client's: its spans come in other
// requests, each of which would be moved by an amount of its own.
func ChunkToProfiles(c *sentry.Chunk, src Source) pprofile.Profiles {
	src.CorrectDrift = false
	out, profile, b := newProfile(chunkIdentity(c, src), src)
	defer b.Release()

	attributes := attributeList{b: b}
	attributes.text(keyFormatVersion, c.Version)
	attributes.text(keyProfilerID, simpleID(c.ProfilerID))
	setProfileID(profile, &attributes, keyChunkID, c.ChunkID)
	attributes.measurements(c.Measurements, keyTimestamp)

	first, last := timeRange(c.Samples.Time)
	setTimeRange(profile, first, last)

	images := newImageMap(b, c.DebugMeta.Images)
	translateSamples(profile, &c.Sampled, 0, chunkFrames(b, images, c))
	attributes.images(images.unmapped())

	finish(profile, b, &attributes, src)
	return out
}

// newProfile makes a message with one resource, one scope and one profile in it. The scope is the SDK: it took the profile.
func newProfile(id identity, src Source) (pprofile.Profiles, pprofile.Profile, *dictionary.Builder) {
	out := pprofile.NewProfiles()
	b := dictionary.NewBuilder(out.Dictionary())

	resource := out.ResourceProfiles().AppendEmpty()
	id.fill(resource.Resource().Attributes(), src)
	scope := resource.ScopeProfiles().AppendEmpty()
	scope.Scope().SetName(strings.Clone(id.sdk.Name))
	scope.Scope().SetVersion(strings.Clone(id.sdk.Version))

	profile := scope.Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	dictionary.SetValueType(profile.PeriodType(), b.String(src.PeriodType), b.String("nanoseconds"))
	profile.SetPeriod(nominalPeriod)
	return out, profile, b
}

// setTimeRange covers first and last: the range of a profile is half-open, so it ends one period after the last sample.
func setTimeRange(profile pprofile.Profile, first, last uint64) {
	profile.SetTime(pcommon.Timestamp(first))
	profile.SetDurationNano(last - first + nominalPeriod)
}

// setProfileID takes the id of the item for that of the profile. Text that is no UUID is kept as an attribute.
func setProfileID(profile pprofile.Profile, attributes *attributeList, key, id string) {
	if bytes, ok := parseID(id); ok {
		profile.SetProfileID(bytes)
		return
	}
	attributes.text(key, simpleID(id))
}

// parseID reads a UUID with or without hyphens, in any case. All zeros is no id.
func parseID(id string) (bytes [16]byte, ok bool) {
	if len(id) > 32 && len(id) <= maxIDBytes {
		id = strings.ReplaceAll(id, "-", "")
	}
	if len(id) != 32 {
		return bytes, false
	}
	_, err := hex.Decode(bytes[:], []byte(id))
	return bytes, err == nil && bytes != [16]byte{}
}

// simpleID is the form in which Sentry compares ids: 32 lower-case hex digits. Text that is no UUID stays as it is, clipped.
func simpleID(id string) string {
	if bytes, ok := parseID(id); ok {
		return hex.EncodeToString(bytes[:])
	}
	return clip(id, maxIDBytes)
}

// SameID says whether two texts are the same id.
func SameID(a, b string) bool { return simpleID(a) == simpleID(b) }

func finish(profile pprofile.Profile, b *dictionary.Builder, attributes *attributeList, src Source) {
	attributes.clockDrift(src)
	dictionary.SetAttributes(profile.AttributeIndices(), attributes.indices...)
	if src.OriginalPayload != nil {
		profile.SetOriginalPayloadFormat(originalPayloadFormat)
		profile.OriginalPayload().FromRaw(src.OriginalPayload)
	}
	b.Finish()
}

// attributeList collects the attributes of one record.
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

// decimal sets an int where the text is the canonical decimal of an int64, else a string: thread ids are numbers by
// OpenTelemetry's convention, and any text by Sentry's.
func (l *attributeList) decimal(key, text string) {
	if text != "" {
		l.add(key, decimalValue(text), "")
	}
}

func decimalValue(text string) dictionary.Value {
	if number, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(number, 10) == text {
		return dictionary.IntValue(number)
	}
	return dictionary.StringValue(text)
}

func (l *attributeList) uint(key string, u sentry.Uint, unit string) {
	switch {
	case !u.Set:
	case u.Value <= math.MaxInt64:
		l.add(key, dictionary.IntValue(int64(u.Value)), unit)
	default:
		l.add(key, dictionary.StringValue(strconv.FormatUint(u.Value, 10)), unit)
	}
}

// transaction keeps what ties a V1 profile to its transaction: trace, event, thread and window.
func (l *attributeList) transaction(t *sentry.ProfileTransaction) {
	if t == nil {
		return
	}
	l.text(keyTraceID, simpleID(t.TraceID))
	l.text(keyTransactionID, simpleID(t.ID))
	l.text(keySegmentName, t.Name)
	l.text(keySegmentID, t.SegmentID)
	l.decimal(keyActiveThread, t.ActiveThreadID.Text)
	l.uint(keyRelativeStart, t.RelativeStartNS, unitNanoseconds)
	l.uint(keyRelativeEnd, t.RelativeEndNS, unitNanoseconds)
	l.uint(keyRelativeCPUStart, t.RelativeCPUStartMS, unitMilliseconds)
	l.uint(keyRelativeCPUEnd, t.RelativeCPUEndMS, unitMilliseconds)
}

// The keys inside sentry.measurements: Sentry's own, except that the points are columns.
const (
	keyUnit      = "unit"
	keyElapsed   = "elapsed_since_start_ns" // V1
	keyTimestamp = "timestamp"              // V2, unix seconds
	keyValue     = "value"
)

// measurements keeps the series as they were sent, node's broken V2 clock included: name → {unit, times, values}.
func (l *attributeList) measurements(series []sentry.Measurement, timeKey string) {
	if len(series) == 0 {
		return
	}
	all := pcommon.NewValueMap()
	for _, m := range series {
		entry := all.Map().PutEmptyMap(m.Name)
		entry.PutStr(keyUnit, m.Unit)
		times, values := entry.PutEmptySlice(timeKey), entry.PutEmptySlice(keyValue)
		times.EnsureCapacity(len(m.Values))
		values.EnsureCapacity(len(m.Values))
		for _, v := range m.Values {
			if timeKey == keyElapsed {
				times.AppendEmpty().SetInt(int64(v.ElapsedNS))
			} else {
				times.AppendEmpty().SetDouble(v.Timestamp)
			}
			values.AppendEmpty().SetDouble(v.Value)
		}
	}
	l.add(keyMeasurements, dictionary.AnyValue(all), "")
}
