// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// ProfileMeasurementsToMetrics translates the series that travel with a V1 profile: a gauge for each, with the profile's
// resource, tied to it by its id.
func ProfileMeasurementsToMetrics(p *profile.Profile, src Source) pmetric.Metrics {
	out, scope := newMetrics(profileIdentity(p, src), src)
	if len(p.Measurements) == 0 {
		return out
	}
	start, profileID := Anchor(p, src), strings.Clone(attr.SimpleID(p.EventID))
	for i := range p.Measurements {
		points := newMeasurement(scope, &p.Measurements[i])
		for _, v := range p.Measurements[i].Values {
			point := newGaugePoint(points, start+v.ElapsedNS, v.Value)
			attr.PutShared(point.Attributes(), semconv.SentryProfileID, profileID)
		}
	}
	removeEmptyGauges(scope)
	return out
}

// ChunkMeasurementsToMetrics translates the series that travel with a V2 chunk. Lost are the points whose time is no instant
// after 1970.
func ChunkMeasurementsToMetrics(c *profile.Chunk, src Source) (out pmetric.Metrics, lost int) {
	out, scope := newMetrics(chunkIdentity(c, src), src)
	clock := newMeasurementClock(c)
	profilerID, chunkID := strings.Clone(attr.SimpleID(c.ProfilerID)), strings.Clone(attr.SimpleID(c.ChunkID))
	for i := range c.Measurements {
		points := newMeasurement(scope, &c.Measurements[i])
		for _, v := range c.Measurements[i].Values {
			at, ok := clock.unixNano(v.Timestamp)
			if !ok {
				lost++
				continue
			}
			point := newGaugePoint(points, at, v.Value)
			attr.PutShared(point.Attributes(), semconv.SentryProfilerID, profilerID)
			attr.PutShared(point.Attributes(), semconv.SentryChunkID, chunkID)
		}
	}
	removeEmptyGauges(scope)
	return out, lost
}

func newMeasurement(scope pmetric.ScopeMetrics, m *profile.Measurement) pmetric.NumberDataPointSlice {
	metric := scope.Metrics().AppendEmpty()
	metric.SetName(semconv.MetricSentryProfilePrefix + m.Name)
	metric.SetUnit(strings.Clone(attr.UcumUnit(m.Unit)))
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

// nodeMillis is from where on a time is in milliseconds: as seconds it would be the year 5138, as milliseconds it is 1973.
const nodeMillis = 1e11

// maxFirstSeconds is how late the first point may come. It comes within the first tenth of a second, or as soon as a blocked
// process is free again: one was for 243 s.
const maxFirstSeconds = 300

// newMeasurementClock finds the start: the whole milliseconds of the first time, less the whole seconds that had passed by
// then. Those were none unless the process was blocked; the first sample tells, which is taken at the start or some ms later.
// (Recorded: a first time of …314.8762 with a first sample at ….312, so 2.8762 s after it.)
func newMeasurementClock(c *profile.Chunk) (clock measurementClock) {
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
		sample := math.Round(float64(earliest) / attr.NanosPerMilli)
		if late := clock.base - sample; late > 0 && late <= maxFirstSeconds {
			clock.base = sample
		}
	}
	return clock
}

func (c measurementClock) unixNano(t float64) (nanos uint64, ok bool) {
	base := uint64(0)
	if t >= nodeMillis && c.base > 0 && c.base < attr.MaxUnixSeconds*1000 {
		base, t = uint64(c.base)*attr.NanosPerMilli, t-c.base
	}
	if !(t >= 0 && t < attr.MaxUnixSeconds) { // NaN neither
		return 0, false
	}
	whole, fraction := math.Modf(t)
	return base + uint64(whole)*attr.NanosPerSecond + uint64(math.Round(fraction*attr.NanosPerSecond)), true
}
