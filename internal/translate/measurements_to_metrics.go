package translate

import (
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// ProfileMeasurementsToMetrics translates the series that travel with a V1 profile: a gauge for each, with the profile's
// resource, tied to it by its id.
func ProfileMeasurementsToMetrics(p *sentry.Profile, src Source) pmetric.Metrics {
	out, scope := newMetrics(profileIdentity(p, src), src)
	if len(p.Measurements) == 0 {
		return out
	}
	start, profileID := anchor(p, src), strings.Clone(simpleID(p.EventID))
	for i := range p.Measurements {
		points := newMeasurement(scope, &p.Measurements[i])
		for _, v := range p.Measurements[i].Values {
			point := newGaugePoint(points, start+v.ElapsedNS, v.Value)
			putShared(point.Attributes(), keyProfileID, profileID)
		}
	}
	removeEmptyGauges(scope)
	return out
}

// ChunkMeasurementsToMetrics translates the series that travel with a V2 chunk. Lost are the points whose time is no instant
// after 1970.
func ChunkMeasurementsToMetrics(c *sentry.Chunk, src Source) (out pmetric.Metrics, lost int) {
	out, scope := newMetrics(chunkIdentity(c, src), src)
	clock := newMeasurementClock(c)
	profilerID, chunkID := strings.Clone(simpleID(c.ProfilerID)), strings.Clone(simpleID(c.ChunkID))
	for i := range c.Measurements {
		points := newMeasurement(scope, &c.Measurements[i])
		for _, v := range c.Measurements[i].Values {
			at, ok := clock.unixNano(v.Timestamp)
			if !ok {
				lost++
				continue
			}
			point := newGaugePoint(points, at, v.Value)
			putShared(point.Attributes(), keyProfilerID, profilerID)
			putShared(point.Attributes(), keyChunkID, chunkID)
		}
	}
	removeEmptyGauges(scope)
	return out, lost
}

func newMeasurement(scope pmetric.ScopeMetrics, m *sentry.Measurement) pmetric.NumberDataPointSlice {
	metric := scope.Metrics().AppendEmpty()
	metric.SetName(measurementPrefix + m.Name)
	metric.SetUnit(strings.Clone(ucumUnit(m.Unit)))
	points := metric.SetEmptyGauge().DataPoints()
	points.EnsureCapacity(len(m.Values))
	return points
}

// removeEmptyGauges removes the series that had no usable value: a metric without points says nothing, and backends refuse it.
func removeEmptyGauges(scope pmetric.ScopeMetrics) {
	scope.Metrics().RemoveIf(func(metric pmetric.Metric) bool { return metric.Gauge().DataPoints().Len() == 0 })
}

func newGaugePoint(points pmetric.NumberDataPointSlice, at uint64, value float64) pmetric.NumberDataPoint {
	point := points.AppendEmpty()
	point.SetStartTimestamp(pcommon.Timestamp(at))
	point.SetTimestamp(pcommon.Timestamp(at))
	point.SetDoubleValue(value)
	return point
}

// measurementClock reads the times of a chunk's measurements. They are unix seconds, except that node, in all versions
// seen, adds the seconds since the profiler's start to its start in milliseconds: 1795223440515.0154, …515.1213, …545.2856
// are 15 ms, 121 ms and 30.3 s after …440.515.
type measurementClock struct {
	base float64 // profiler's start in unix milliseconds, where that is what the times count from; else 0
}

const (
	nanosPerMilli  = 1_000_000
	nanosPerSecond = 1_000_000_000
	nanosPerMinute = 60 * nanosPerSecond

	// maxUnixSeconds is the end of time in decoding too: the year 2242. Sums of two still fit 64 bits of nanoseconds.
	maxUnixSeconds = 1 << 33
)

// nodeMillis is from where on a time is in milliseconds: as seconds it would be the year 5138, as milliseconds it is 1973.
const nodeMillis = 1e11

// maxFirstSeconds is how late the first point may come. It comes within the first tenth of a second, or as soon as a blocked
// process is free again: one was for 243 s.
const maxFirstSeconds = 300

// newMeasurementClock finds the start: the whole milliseconds of the first time, less the whole seconds that had passed by
// then. Those were none unless the process was blocked; the first sample tells, which is taken at the start or some ms later.
// (Recorded: a first time of …314.8762 with a first sample at ….312, so 2.8762 s after it.)
func newMeasurementClock(c *sentry.Chunk) (clock measurementClock) {
	first := math.Inf(1)
	for i := range c.Measurements {
		for _, v := range c.Measurements[i].Values {
			if v.Timestamp >= nodeMillis {
				first = min(first, v.Timestamp)
			}
		}
	}
	if math.IsInf(first, 1) {
		return clock
	}
	clock.base = math.Floor(first)
	if c.Samples.Len() > 0 {
		earliest, _ := timeRange(c.Samples.Time)
		sample := math.Round(float64(earliest) / nanosPerMilli)
		if late := clock.base - sample; late > 0 && late <= maxFirstSeconds {
			clock.base = sample
		}
	}
	return clock
}

func (c measurementClock) unixNano(t float64) (nanos uint64, ok bool) {
	base := uint64(0)
	if t >= nodeMillis && c.base > 0 && c.base < maxUnixSeconds*1000 {
		base, t = uint64(c.base)*nanosPerMilli, t-c.base
	}
	if !(t >= 0 && t < maxUnixSeconds) { // NaN neither
		return 0, false
	}
	whole, fraction := math.Modf(t)
	return base + uint64(whole)*nanosPerSecond + uint64(math.Round(fraction*nanosPerSecond)), true
}
