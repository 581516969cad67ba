// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// DropIdle drops the samples of idle threads: samples without a stack (from browsers and Java) and
// samples whose leaf is one of Functions (from Node).
//
// Afterwards, the gaps between timestamps are no longer the durations of samples: aggregate to
// nanoseconds first.
type DropIdle struct {
	// Functions are exact function names. The default is (idle), the name that V8 uses.
	Functions []string `mapstructure:"functions"`
}

func (*DropIdle) Validate() error { return nil }

func (s *DropIdle) apply(m *message) {
	idle := m.idleStacks(s.Functions)
	m.drop(Idle, func(pprofile.Profile) func(pprofile.Sample) bool {
		return func(sample pprofile.Sample) bool { return idle[sample.StackIndex()] }
	})
}

// idleStacks returns, for each stack, whether it is idle.
func (m *message) idleStacks(functions []string) []bool {
	idle := make([]bool, m.profiles.Dictionary().StackTable().Len())
	var frames []dictionary.LocationIndex
	var leaf dictionary.Location
	for i := range idle {
		frames, _ = m.view.Stack(dictionary.StackIndex(i), frames[:0])
		if len(frames) == 0 {
			idle[i] = true
			continue
		}
		m.view.Location(frames[0], &leaf)
		if len(leaf.Lines) > 0 {
			function, _ := m.view.Function(leaf.Lines[0].Function)
			idle[i] = slices.Contains(functions, m.view.Text(function.Name))
		}
	}
	return idle
}
