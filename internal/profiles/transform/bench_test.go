// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

// BenchmarkSteps shows that the time per observation does not grow with their number.
func BenchmarkSteps(b *testing.B) {
	inApp := true
	pyroscope, _ := Preset(PresetPyroscope)
	for name, steps := range map[string][]Step{
		"aggregate": {&Aggregate{Unit: UnitNanoseconds}},
		"frames":    {&Frames{Action: ActionCollapse, Name: "x", Match: []FrameMatch{{InApp: &inApp}, {Function: regexp.MustCompile("^a")}}}},
		"scrub":     {&Scrub{Preset: PresetHome}},
		"split":     {&Split{MaxDuration: 10 * time.Second}},
		"pyroscope": pyroscope,
	} {
		for _, n := range []int{1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				source := profileOf(wall, spread(n/10, n/100)...)
				for b.Loop() {
					b.StopTimer()
					p := pprofile.NewProfiles()
					source.CopyTo(p)
					b.StartTimer()
					Apply(p, steps)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/observation")
			})
		}
	}
}
