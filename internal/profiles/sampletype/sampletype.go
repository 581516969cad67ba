// SPDX-License-Identifier: Apache-2.0

// Package sampletype interprets the sample type and the period type of OTLP profiles: whether the
// values of a profile are time, of which clock, and how much. Producers spell the same thing
// differently; docs/producers.md has a row for each spelling.
package sampletype

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
)

// Clock is the clock whose time the values of a profile are.
type Clock string

const (
	None Clock = ""     // not time: memory, locks, events
	Wall Clock = "wall" // of all threads, waiting ones included
	CPU  Clock = "cpu"  // of running threads only
)

// clocks has the clocks of type names, as sample type and as period type.
//
// Not among them: off_cpu, whose values are the durations of waits of some threads, beside a
// profile of CPU time; delay, contentions and async-profiler's lock_tracer (locks); and all of
// memory.
var clocks = map[string]Clock{
	"cpu":         CPU,
	"itimer":      CPU, // async-profiler's engines (src/itimer.h, src/ctimer.h, src/perfEvents.h)
	"ctimer":      CPU,
	"perf_events": CPU, // its unit is ns only for the events cpu-clock and task-clock
	"wall":        Wall,
	"j9_wall":     Wall, // async-profiler on OpenJ9 (src/j9WallClock.h)
}

// counts are sample types that count observations; the period type states of what.
var counts = map[string]bool{"samples": true, "sample": true}

// units has the nanoseconds of units of time, in the words of pprof and of UCUM.
var units = map[string]float64{
	"nanoseconds": 1, "nanosecond": 1, "ns": 1, "microseconds": 1e3, "us": 1e3, "milliseconds": 1e6, "ms": 1e6,
	"seconds": 1e9, "s": 1e9,
}

// The names of units and of the count type that backends know.
const (
	UnitCount       = "count"
	UnitNanoseconds = "nanoseconds"
	TypeSamples     = "samples"
)

// Type is the interpretation of a profile's types.
type Type struct {
	Name, Unit             string // of values, as sent
	PeriodName, PeriodUnit string

	Clock Clock // None if values are not time

	// Counts reports whether values count observations, each of which stands for Period. Otherwise
	// values are time in Unit, if Clock is not None.
	Counts bool

	// Period is the nanoseconds between two observations, 0 if not stated.
	Period float64
}

// Of interprets the types of a profile; false if they refer to strings that do not exist.
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

// Nanoseconds returns the nanoseconds that a value of 1 stands for: the period for counts, 0 if
// values are not time or their period is not stated.
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
