// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// ProfileMeasurementsToMetrics translates the measurements of a V1 profile to one gauge per series,
// with the profile's resource and ID.
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
			putOrigin(point, src, origin{semconv.SentryProfileID, profileID})
		}
	}
	removeEmptyGauges(scope)
	return out
}

// ChunkMeasurementsToMetrics translates the measurements of a V2 chunk. It also returns the number
// of points without a valid time, which are dropped.
func ChunkMeasurementsToMetrics(c *profile.Chunk, src Source) (out pmetric.Metrics, lost int) {
	out, scope := newMetrics(chunkIdentity(c, src), src)
	clock := profile.NewMeasurementClock(c)
	profilerID, chunkID := strings.Clone(attr.SimpleID(c.ProfilerID)), strings.Clone(attr.SimpleID(c.ChunkID))
	for i := range c.Measurements {
		points := newMeasurement(scope, &c.Measurements[i])
		for _, v := range c.Measurements[i].Values {
			at, ok := clock.UnixNano(v.Timestamp)
			if !ok {
				lost++
				continue
			}
			point := newGaugePoint(points, at, v.Value)
			putOrigin(point, src, origin{semconv.SentryProfilerID, profilerID}, origin{semconv.SentryChunkID, chunkID})
		}
	}
	removeEmptyGauges(scope)
	return out, lost
}

// origin is an ID of the profile that contains a measurement.
type origin struct{ key, id string }

// putOrigin sets the IDs on the exemplar of a point: on the point, each profile would be a series.
func putOrigin(point pmetric.NumberDataPoint, src Source, origins ...origin) {
	recording := pcommon.NewMap()
	for _, o := range origins {
		to := point.Attributes()
		if src.ofRecording(o.key) {
			to = recording
		}
		attr.PutShared(to, o.key, o.id)
	}
	if recording.Len() > 0 {
		exemplar := point.Exemplars().AppendEmpty()
		exemplar.SetTimestamp(point.Timestamp())
		exemplar.SetDoubleValue(point.DoubleValue())
		recording.MoveTo(exemplar.FilteredAttributes())
	}
}

func newMeasurement(scope pmetric.ScopeMetrics, m *profile.Measurement) pmetric.NumberDataPointSlice {
	metric := scope.Metrics().AppendEmpty()
	metric.SetName(semconv.MetricSentryProfilePrefix + m.Name)
	metric.SetUnit(strings.Clone(attr.UcumUnit(m.Unit)))
	points := metric.SetEmptyGauge().DataPoints()
	points.EnsureCapacity(len(m.Values))
	return points
}

// removeEmptyGauges removes series without usable values: backends reject metrics without points.
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

// measurements adds the series as sent, even with Node's broken V2 clock: name → {unit, times,
// values}.
func (l *attributeList) measurements(series []profile.Measurement, timeKey string) {
	if len(series) == 0 {
		return
	}
	all := pcommon.NewValueMap()
	for _, m := range series {
		entry := all.Map().PutEmptyMap(m.Name)
		entry.PutStr(attr.KeyUnit, m.Unit)
		times, values := entry.PutEmptySlice(timeKey), entry.PutEmptySlice(attr.KeyValue)
		times.EnsureCapacity(len(m.Values))
		values.EnsureCapacity(len(m.Values))
		for _, v := range m.Values {
			if timeKey == attr.KeyElapsed {
				times.AppendEmpty().SetInt(int64(v.ElapsedNS))
			} else {
				times.AppendEmpty().SetDouble(v.Timestamp)
			}
			values.AppendEmpty().SetDouble(v.Value)
		}
	}
	l.add(semconv.SentryMeasurements, dictionary.MovedValue(all), "")
}

// putMeasures sets one attribute for all measurements of a transaction or span: name → {unit,
// value}. The root of a transaction has those of both.
func putMeasures(attrs pcommon.Map, measures []event.NamedMeasure) {
	if len(measures) == 0 {
		return
	}
	known, ok := attrs.Get(semconv.SentryMeasurements)
	if !ok || known.Type() != pcommon.ValueTypeMap {
		known = attrs.PutEmpty(semconv.SentryMeasurements)
		known.SetEmptyMap()
	}
	for _, m := range measures {
		entry := known.Map().PutEmptyMap(m.Name)
		attr.PutText(entry, attr.KeyUnit, m.Unit)
		entry.PutDouble(attr.KeyValue, m.Value)
	}
}
