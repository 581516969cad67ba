// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/inapp"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/waiting"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// DropIdle drops the samples of idle threads: samples without a stack (from browsers and Java) and
// samples whose leaf is one of Functions (from Node). With Waiting, it also drops the samples of
// threads that wait (see package waiting), unless they are linked to a span: then the wait is part
// of its time.
//
// Afterwards, the gaps between timestamps are no longer the durations of samples: aggregate to
// nanoseconds first.
type DropIdle struct {
	// Functions are exact function names. The default is (idle), the name that V8 uses.
	Functions []string `mapstructure:"functions"`
	Waiting   bool     `mapstructure:"waiting"`
}

func (*DropIdle) Validate() error { return nil }

func (s *DropIdle) apply(m *message) {
	idle, waits := m.idleStacks(s)
	m.drop(Idle, func(profile pprofile.Profile) func(pprofile.Sample) bool {
		t, _ := sampletype.Of(m.view, profile)
		return func(sample pprofile.Sample) bool {
			return idle[sample.StackIndex()] || t.Clock == sampletype.Wall && waits[sample.StackIndex()] && !m.isLinked(sample)
		}
	})
}

func (m *message) isLinked(sample pprofile.Sample) bool {
	trace, _, _ := m.view.Link(dictionary.LinkIndex(sample.LinkIndex()))
	return !trace.IsEmpty()
}

// idleStacks returns, for each stack, whether it is idle, and whether it waits.
func (m *message) idleStacks(s *DropIdle) (idle, waits []bool) {
	stacks := m.profiles.Dictionary().StackTable().Len()
	idle, waits = make([]bool, stacks), make([]bool, stacks)
	type state struct{ idle, waits bool }
	leaves := map[dictionary.LocationIndex]state{} // a location may be the leaf of any number of stacks
	var frames []dictionary.LocationIndex
	var leaf dictionary.Location
	for i := range idle {
		frames, _ = m.view.Stack(dictionary.StackIndex(i), frames[:0])
		if len(frames) == 0 {
			idle[i] = true
			continue
		}
		is, known := leaves[frames[0]]
		if !known {
			m.view.Location(frames[0], &leaf)
			if len(leaf.Lines) > 0 {
				function, _ := m.view.Function(leaf.Lines[0].Function)
				is = state{slices.Contains(s.Functions, m.view.Text(function.Name)), s.Waiting && waiting.In(m.described(&leaf, function))}
			}
			leaves[frames[0]] = is
		}
		idle[i], waits[i] = is.idle, is.waits
	}
	return idle, waits
}

// described returns what the rules for functions read.
func (m *message) described(l *dictionary.Location, f dictionary.Function) inapp.Frame {
	out := inapp.Frame{Function: m.view.Text(f.Name), File: m.view.Text(f.Filename)}
	if l.Mapping != 0 { // not View.Mapping, which copies the attributes for each location
		mapping := m.profiles.Dictionary().MappingTable().At(int(l.Mapping))
		out.Package = m.view.Text(dictionary.StringIndex(mapping.FilenameStrindex()))
	}
	for _, i := range l.Attributes {
		a, _ := m.view.Attribute(i)
		switch isText := a.Value.Type() == pcommon.ValueTypeStr; {
		case isText && a.Key == semconv.ProfileFrameType:
			out.Type = a.Value.Str()
		case isText && a.Key == semconv.SentryFrameModule:
			out.Module = a.Value.Str()
		}
	}
	return out
}
