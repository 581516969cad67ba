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
	start := Anchor(p, src)
	at := func(v profile.MeasurementValue) (uint64, bool) { return start + v.ElapsedNS, true }
	out, _ := measurementsToMetrics(profileIdentity(p, src), p.Measurements, at, src, origin{semconv.SentryProfileID, p.EventID})
	return out
}

// ChunkMeasurementsToMetrics translates the measurements of a V2 chunk. It also returns the number
// of points without a valid time, which are dropped.
func ChunkMeasurementsToMetrics(c *profile.Chunk, src Source) (out pmetric.Metrics, lost int) {
	clock := profile.NewMeasurementClock(c)
	at := func(v profile.MeasurementValue) (uint64, bool) { return clock.UnixNano(v.Timestamp) }
	return measurementsToMetrics(chunkIdentity(c, src), c.Measurements, at, src, origin{semconv.SentryProfilerID, c.ProfilerID}, origin{semconv.SentryChunkID, c.ChunkID})
}

// measurementsToMetrics translates series without usable values to nothing: backends reject metrics
// without points.
func measurementsToMetrics(id attr.Identity, series []profile.Measurement, at func(profile.MeasurementValue) (uint64, bool), src Source, origins ...origin) (out pmetric.Metrics, lost int) {
	out, scope := newMetrics(id, src)
	for i := range origins {
		origins[i].id = strings.Clone(attr.SimpleID(origins[i].id))
	}
	for i := range series {
		metric := scope.Metrics().AppendEmpty()
		metric.SetName(semconv.MetricSentryProfilePrefix + series[i].Name)
		metric.SetUnit(strings.Clone(attr.UcumUnit(series[i].Unit)))
		points := metric.SetEmptyGauge().DataPoints()
		points.EnsureCapacity(len(series[i].Values))
		for _, v := range series[i].Values {
			nanos, ok := at(v)
			if !ok {
				lost++
				continue
			}
			point := points.AppendEmpty()
			point.SetStartTimestamp(pcommon.Timestamp(nanos))
			point.SetTimestamp(pcommon.Timestamp(nanos))
			point.SetDoubleValue(v.Value)
			putOrigin(point, src, origins)
		}
	}
	scope.Metrics().RemoveIf(func(metric pmetric.Metric) bool { return metric.Gauge().DataPoints().Len() == 0 })
	return out, lost
}

// origin is an ID of the profile that contains a measurement.
type origin struct{ key, id string }

// putOrigin sets the IDs on the exemplar of a point: on the point, each profile would be a series.
func putOrigin(point pmetric.NumberDataPoint, src Source, origins []origin) {
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
