// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// measurements decodes the object of series and sorts the series by name, because the order of JSON
// members has no meaning. It uses the scanner, because Node sends 300 points in each series, which
// encoding/json would decode as slowly as all samples.
func (d *sampledDecoder) measurements() (all []Measurement) {
	if !d.expect('{', "measurements") {
		return nil
	}
	points := 0
	d.Open('{')
	for n := 0; ; {
		name, ok := d.Member(&n)
		if !ok {
			break
		}
		if !d.expect('{', "measurements") {
			continue
		}
		m := d.measurement()
		if m.Name = string(name); m.Name == "" {
			d.out.addFlaw("measurements") // not a valid attribute key
			continue
		}
		if points += len(m.Values); len(all) == sentry.MaxMeasurements || points > sentry.MaxMeasurementValues {
			d.Stop(discard.Errorf(discard.ReasonTooManyMeasurements, "more than %d series or %d points", sentry.MaxMeasurements, sentry.MaxMeasurementValues))
			return nil
		}
		d.reserve(seriesBytes + len(name) + len(m.Unit))
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b Measurement) int { return strings.Compare(a.Name, b.Name) })
	return lastOfEach(all)
}

// seriesBytes is the memory of a series in a growing list.
const seriesBytes = 250

// lastOfEach keeps the last series of each name, like encoding/json.
func lastOfEach(sorted []Measurement) []Measurement {
	kept := sorted[:0]
	for i, m := range sorted {
		if i+1 == len(sorted) || sorted[i+1].Name != m.Name {
			kept = append(kept, m)
		}
	}
	return kept
}

func (d *sampledDecoder) measurement() (m Measurement) {
	d.Open('{')
	for n := 0; ; {
		key, ok := d.Member(&n)
		if !ok {
			return m
		}
		switch string(key) {
		case "unit":
			m.Unit = strings.Clone(d.out.frameText(&d.Scanner, "measurements.unit"))
		case "values":
			m.Values = d.measurementValues()
		default:
			d.Skip()
		}
	}
}

func (d *sampledDecoder) measurementValues() (values []MeasurementValue) {
	if !d.expect('[', "measurements.values") {
		return nil
	}
	d.Open('[')
	for n := 0; d.Element(&n); {
		if d.expect('{', "measurements.values") {
			if v, ok := d.measurementValue(); ok {
				values = push(d, values, v)
			}
		}
	}
	return values
}

func (d *sampledDecoder) measurementValue() (v MeasurementValue, ok bool) {
	usable, timed, valued := true, d.format == formatV1, false // ingest reads an absent V1 time as 0
	d.Open('{')
	for n := 0; ; {
		key, more := d.Member(&n)
		if !more {
			break
		}
		good := true
		switch string(key) {
		case d.format.timeKey():
			good = d.measurementTime(&v)
			timed = true
		case "value":
			v.Value, good = d.measurementFloat()
			valued = true
		default:
			d.Skip()
		}
		usable = usable && good
	}
	if usable = usable && timed && valued; !usable {
		d.out.addFlaw("measurements.values")
	}
	return v, usable
}

func (d *sampledDecoder) measurementTime(v *MeasurementValue) (ok bool) {
	if d.format == formatV2 {
		v.Timestamp, ok = d.measurementFloat()
		return ok
	}
	text, _, ok := d.Scalar()
	nanos, isUint := jsonscan.ParseUint(text)
	v.ElapsedNS = nanos
	return ok && isUint && nanos <= math.MaxInt64
}

// measurementFloat reads a number or numeric text, including "+Infinity", like Relay.
func (d *sampledDecoder) measurementFloat() (float64, bool) {
	text, _, ok := d.Scalar()
	value, err := strconv.ParseFloat(jsonscan.View(text), 64)
	return value, ok && err == nil
}
