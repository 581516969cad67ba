// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// ProfileType sets sample type, period type and period as Grafana Pyroscope expects them:
// pkg/ingester/otlp/convert.go derives the profile type, by which it groups profiles, from these
// fields.
//
//   - CPU time becomes samples/count with a period of cpu/nanoseconds, which is the type
//     process_cpu:cpu:nanoseconds:cpu:nanoseconds of all other agents; Pyroscope multiplies by the
//     period. Sums that are not multiples of the period get a period of 1 ns.
//   - A profile without a period gets 1 of its sample type: the name of the profile is the period
//     type, and Pyroscope rejects the request if it is empty. Exception: off_cpu/nanoseconds, which
//     Pyroscope knows by the missing period.
//   - Characters of names other than letters, digits and underscores become underscores: Pyroscope
//     rejects "-" and separates the names by ":".
//
// It drops nothing. It expects totals, so put it after aggregate.
type ProfileType struct{}

func (*ProfileType) Validate() error { return nil }

func (*ProfileType) apply(m *message) {
	m.each(func(_ pcommon.Resource, profile pprofile.Profile) {
		t, _ := sampletype.Of(m.view, profile)
		switch {
		case t.Clock == sampletype.CPU:
			m.countCPU(profile, t)
		case t.Name == offCPU && t.Unit == sampletype.UnitNanoseconds:
			profile.SetPeriod(0)
		default:
			m.nameType(profile, t)
		}
	})
}

const offCPU = "off_cpu" // of the OpenTelemetry eBPF profiler

// countCPU converts CPU time to counts of a period.
func (m *message) countCPU(profile pprofile.Profile, t sampletype.Type) {
	period := int64(t.Period)
	switch {
	case t.Counts && period < 1: // Pyroscope also shows counts without a period
		m.nameType(profile, t)
		return
	case !t.Counts:
		scale := int64(t.Nanoseconds())
		multiples := period > 0
		for _, s := range profile.Samples().All() {
			for i, value := range s.Values().All() {
				s.Values().SetAt(i, multiply(value, scale))
				multiples = multiples && s.Values().At(i)%period == 0
			}
		}
		if !multiples {
			period = 1
		}
		for _, s := range profile.Samples().All() {
			for i, value := range s.Values().All() {
				s.Values().SetAt(i, value/period)
			}
		}
	}
	profile.SetPeriod(period)
	m.setTypes(profile, sampletype.TypeSamples, sampletype.UnitCount, string(sampletype.CPU), sampletype.UnitNanoseconds)
}

func (m *message) nameType(profile pprofile.Profile, t sampletype.Type) {
	if t.Name == "" {
		t.Name, t.Unit = sampletype.TypeSamples, sampletype.UnitCount
	}
	if t.PeriodName == "" || profile.Period() == 0 {
		t.PeriodName, t.PeriodUnit = t.Name, t.Unit
		profile.SetPeriod(1)
	}
	m.setTypes(profile, typeName(t.Name), typeName(t.Unit), typeName(t.PeriodName), typeName(t.PeriodUnit))
}

func (m *message) setTypes(profile pprofile.Profile, name, unit, periodName, periodUnit string) {
	dictionary.SetValueType(profile.SampleType(), m.edit.String(name), m.edit.String(unit))
	dictionary.SetValueType(profile.PeriodType(), m.edit.String(periodName), m.edit.String(periodUnit))
}

// typeName replaces characters that have a meaning in a profile type.
func typeName(name string) string {
	if name == "" {
		return ""
	}
	return labelName(name)
}
