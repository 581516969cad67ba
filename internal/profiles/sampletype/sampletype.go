// SPDX-License-Identifier: Apache-2.0

// Package sampletype interprets the sample type and the period type of OTLP profiles: whether the
// values of a profile are times, on which clock, and in which unit. Producers use different names
// for the same type; docs/producers.md has a row for each.
package sampletype

import (
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

// units maps time units, as named by pprof and UCUM, to nanoseconds.
var units = map[string]float64{
	"nanoseconds": 1, "nanosecond": 1, "ns": 1, "microseconds": 1e3, "us": 1e3, "milliseconds": 1e6, "ms": 1e6,
	"seconds": 1e9, "s": 1e9,
}

// Names of units and of the count type that backends know.
const (
	UnitCount       = "count"
	UnitNanoseconds = "nanoseconds"
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
	if clocks[t.PeriodName] != None && profile.Period() > 0 {
		t.Period = float64(profile.Period()) * units[t.PeriodUnit]
	}
	switch {
	case t.Unit == UnitCount && counts[t.Name]:
		t.Counts, t.Clock = true, clocks[t.PeriodName]
	case t.Unit == UnitCount && clocks[t.Name] != None && t.Name == t.PeriodName && units[t.PeriodUnit] > 0:
		// async-profiler 4.1 and later names the sample type after the event: ctimer/count with a
		// period in ctimer/ns. JFR recordings that it converts say cpu/count with cpu/nanoseconds.
		t.Counts, t.Clock = true, clocks[t.Name]
	case units[t.Unit] > 0:
		t.Clock = clocks[t.Name]
	}
	return t, ok1 && ok2
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
		return units[t.Unit]
	}
}
