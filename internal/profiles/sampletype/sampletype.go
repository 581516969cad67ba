// SPDX-License-Identifier: Apache-2.0

// Package sampletype interprets the sample type and the period type of OTLP profiles: whether the
// values of a profile are times, on which clock, and in which unit. Producers use different names
// for the same type; docs/producers.md has a row for each.
package sampletype

import (
	"cmp"
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Clock is the clock that the values of a profile are based on.
type Clock string

const (
	None Clock = ""     // not time: memory, locks, events
	Wall Clock = "wall" // of all threads, including waiting ones
	CPU  Clock = "cpu"  // of running threads only
)

// clocks maps sample and period type names to clocks.
//
// It omits off_cpu, whose values are how long some threads waited, recorded in addition to CPU
// time; delay, contentions and async-profiler's lock_tracer (locks); and all memory types.
var clocks = map[string]Clock{
	"cpu":         CPU,
	"itimer":      CPU, // async-profiler's engines (src/itimer.h, src/ctimer.h, src/perfEvents.h)
	"ctimer":      CPU,
	"perf_events": CPU, // its unit is ns only for the events cpu-clock and task-clock
	"wall":        Wall,
	"j9_wall":     Wall, // async-profiler on OpenJ9 (src/j9WallClock.h)
}

// counts lists sample types that count observations; the period type states of what.
var counts = map[string]bool{"samples": true, "sample": true}

// quantity is a unit in terms of a base unit.
type quantity struct {
	base   string
	factor int64
}

// units maps units of time and memory to nanoseconds and bytes: those of UCUM, and those that pprof
// accepts (internal/measurement/measurement.go), also in the plural and in upper case.
var units = map[string]quantity{
	"ns": {UnitNanoseconds, 1}, "nanosecond": {UnitNanoseconds, 1},
	"us": {UnitNanoseconds, 1e3}, "\u00b5s": {UnitNanoseconds, 1e3}, "\u03bcs": {UnitNanoseconds, 1e3}, "microsecond": {UnitNanoseconds, 1e3},
	"ms": {UnitNanoseconds, 1e6}, "millisecond": {UnitNanoseconds, 1e6},
	"s": {UnitNanoseconds, 1e9}, "sec": {UnitNanoseconds, 1e9}, "second": {UnitNanoseconds, 1e9},
	"min": {UnitNanoseconds, 60e9}, "minute": {UnitNanoseconds, 60e9},
	"h": {UnitNanoseconds, 3600e9}, "hr": {UnitNanoseconds, 3600e9}, "hour": {UnitNanoseconds, 3600e9},

	"b": {UnitBytes, 1}, "by": {UnitBytes, 1}, "byte": {UnitBytes, 1}, "kiby": {UnitBytes, 1 << 10}, "miby": {UnitBytes, 1 << 20},
	"kb": {UnitBytes, 1 << 10}, "kbyte": {UnitBytes, 1 << 10}, "kilobyte": {UnitBytes, 1 << 10},
	"mb": {UnitBytes, 1 << 20}, "mbyte": {UnitBytes, 1 << 20}, "megabyte": {UnitBytes, 1 << 20},
	"gb": {UnitBytes, 1 << 30}, "gbyte": {UnitBytes, 1 << 30}, "gigabyte": {UnitBytes, 1 << 30},
}

// longestUnit is the length of the longest unit in its plural.
const longestUnit = len("microseconds")

func quantityOf(unit string) quantity {
	if len(unit) > longestUnit {
		return quantity{}
	}
	unit = strings.ToLower(unit)
	return cmp.Or(units[unit], units[strings.TrimSuffix(unit, "s")])
}

// nanoseconds returns the number of nanoseconds in a unit, or 0 if it is not a unit of time.
func nanoseconds(unit string) float64 {
	if q := quantityOf(unit); q.base == UnitNanoseconds {
		return float64(q.factor)
	}
	return 0
}

// Names of units and of the count type that backends know.
const (
	UnitCount       = "count"
	UnitNanoseconds = "nanoseconds"
	UnitBytes       = "bytes"
	TypeSamples     = "samples"
)

// Type is the interpretation of a profile's types.
type Type struct {
	Name, Unit             string // of the values, as sent
	PeriodName, PeriodUnit string

	Clock Clock // None if values are not time

	// Counts reports whether values count observations, each of which stands for Period. Otherwise
	// values are time in Unit, if Clock is not None.
	Counts bool

	// Period is the number of nanoseconds between two observations, or 0 if not stated.
	Period float64
}

// Of interprets the types of a profile. ok is false if they refer to strings that do not exist.
func Of(view dictionary.View, profile pprofile.Profile) (t Type, ok bool) {
	var ok1, ok2 bool
	t.Name, t.Unit, ok1 = view.ValueType(profile.SampleType())
	t.PeriodName, t.PeriodUnit, ok2 = view.ValueType(profile.PeriodType())
	return Interpret(t.Name, t.Unit, t.PeriodName, t.PeriodUnit, profile.Period()), ok1 && ok2
}

// Interpret interprets types by their names and units.
func Interpret(name, unit, periodName, periodUnit string, period int64) Type {
	t := Type{Name: name, Unit: unit, PeriodName: periodName, PeriodUnit: periodUnit}
	if clocks[t.PeriodName] != None && period > 0 {
		t.Period = float64(period) * nanoseconds(t.PeriodUnit)
	}
	switch {
	case t.Unit == UnitCount && counts[t.Name]:
		t.Counts, t.Clock = true, clocks[t.PeriodName]
	case t.Unit == UnitCount && clocks[t.Name] != None && t.Name == t.PeriodName && nanoseconds(t.PeriodUnit) > 0:
		// async-profiler 4.1 and later names the sample type after the event: ctimer/count with a
		// period in ctimer/ns. JFR recordings that it converts say cpu/count with cpu/nanoseconds.
		t.Counts, t.Clock = true, clocks[t.Name]
	case nanoseconds(t.Unit) > 0:
		t.Clock = clocks[t.Name]
	}
	return t
}

// Measure is the quantity that weights measure, and the weight of a value of 1 in its unit. Weights
// of profiles with the same name and unit add up.
type Measure struct {
	Name, Unit string
	Factor     int64
}

// Measure returns the measure of a profile with these types and a period. Times are nanoseconds,
// memory is bytes. An observation weighs the period if that is a time.
func (t Type) Measure(period int64) Measure {
	switch {
	case t.Counts && t.Clock != None && t.Period >= 1:
		return Measure{string(t.Clock), UnitNanoseconds, int64(min(t.Period, math.MaxInt64/2))}
	case t.Counts && t.PeriodUnit == UnitNanoseconds && period > 0: // another kind of time, such as off_cpu
		return Measure{t.PeriodName, UnitNanoseconds, period}
	}
	q := cmp.Or(quantityOf(t.Unit), quantity{t.Unit, 1})
	if !t.Counts && t.Clock != None {
		return Measure{string(t.Clock), q.base, q.factor}
	}
	return Measure{t.Name, q.base, q.factor}
}

// Nanoseconds returns the number of nanoseconds that a value of 1 represents: the period if values
// are counts. It returns 0 if values are not times or the period is not stated.
func (t Type) Nanoseconds() float64 {
	switch {
	case t.Clock == None:
		return 0
	case t.Counts:
		return t.Period
	default:
		return nanoseconds(t.Unit)
	}
}
