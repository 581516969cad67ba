// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"math"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	sentryprofile "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// readMeasurements is the inverse of fromsentry.attributeList.measurements, for both formats: V1
// counts times from the start of the profile. Ingest rejects a chunk with an unknown unit, so such
// series are dropped. The clock of the times is behind by driftMilli.
func readMeasurements(view dictionary.View, profile pprofile.Profile, driftMilli int64, e *Export) (all []sentryprofile.Measurement) {
	attribute, ok := view.Get(profile.AttributeIndices(), semconv.SentryMeasurements)
	if !ok || attribute.Type() != pcommon.ValueTypeMap {
		return nil
	}
	points := 0
	for name, value := range attribute.Map().All() {
		if value.Type() != pcommon.ValueTypeMap {
			e.Flaw("measurement", 1)
			continue
		}
		m := sentryprofile.Measurement{Name: name, Unit: attr.TextOf(value.Map(), attr.KeyUnit)}
		m.Values = readPoints(value.Map(), uint64(profile.Time()), e)
		for i := range m.Values {
			m.Values[i].Timestamp += float64(driftMilli*attr.NanosPerMilli) / attr.NanosPerSecond
		}
		points += len(m.Values)
		if !sentryprofile.IsMeasurementUnit(m.Unit) || points > sentry.MaxMeasurementValues {
			e.Flaw("measurement", 1)
			continue
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b sentryprofile.Measurement) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func readPoints(series pcommon.Map, anchor uint64, e *Export) (points []sentryprofile.MeasurementValue) {
	values, ok := listOf(series, attr.KeyValue)
	if !ok {
		return nil
	}
	times, absolute := listOf(series, attr.KeyTimestamp)
	if !absolute {
		if times, ok = listOf(series, attr.KeyElapsed); !ok {
			return nil
		}
	}
	for i := range min(times.Len(), values.Len()) {
		point := sentryprofile.MeasurementValue{Timestamp: number(times.At(i)), Value: number(values.At(i))}
		if !absolute {
			point.Timestamp = float64(anchor+uint64(max(0, times.At(i).Int()))) / attr.NanosPerSecond
		}
		if math.IsInf(point.Timestamp, 0) || math.IsNaN(point.Timestamp) || math.IsInf(point.Value, 0) || math.IsNaN(point.Value) {
			e.Flaw("measurement_value", 1) // not representable in JSON
			continue
		}
		points = append(points, point)
	}
	return points
}

func listOf(m pcommon.Map, key string) (pcommon.Slice, bool) {
	value, ok := m.Get(key)
	if !ok || value.Type() != pcommon.ValueTypeSlice {
		return pcommon.Slice{}, false
	}
	return value.Slice(), true
}

// number returns a double or an int as float64, NaN for other types.
func number(value pcommon.Value) float64 {
	switch value.Type() {
	case pcommon.ValueTypeDouble:
		return value.Double()
	case pcommon.ValueTypeInt:
		return float64(value.Int())
	}
	return math.NaN()
}

// measuresOf is the inverse of fromsentry.putMeasures.
func measuresOf(value pcommon.Value) (all []event.NamedMeasure) {
	if value.Type() != pcommon.ValueTypeMap {
		return nil
	}
	for name, entry := range value.Map().All() {
		if entry.Type() != pcommon.ValueTypeMap {
			continue
		}
		if measured, ok := entry.Map().Get(attr.KeyValue); ok && attr.IsFinite(number(measured)) {
			all = append(all, event.NamedMeasure{Name: name, Value: number(measured), Unit: attr.TextOf(entry.Map(), attr.KeyUnit)})
		}
	}
	return all
}
