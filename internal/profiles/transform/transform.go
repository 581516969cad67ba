// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
)

// Step is one transform with its settings. The settings can be shared: applying a step does not change it.
type Step interface {
	// Validate says which setting is wrong and what to write instead.
	Validate() error
	apply(m *message)
}

// Apply runs steps over p, which it owns, in their order. What goes on are the parts: p itself, or several messages after
// split, or none where nothing is left.
func Apply(p pprofile.Profiles, steps []Step) (parts []pprofile.Profiles, lost Losses) {
	if len(steps) == 0 {
		return []pprofile.Profiles{p}, nil
	}
	m := newMessage(p)
	m.dropBroken()
	m.clearPayloads()
	for _, step := range steps {
		step.apply(m)
	}
	if p.ResourceProfiles().Len() == 0 {
		return nil, m.lost
	}
	dictionary.Compact(p)
	if m.split != nil {
		return m.split.parts(p), m.lost
	}
	return []pprofile.Profiles{p}, m.lost
}

// ValidateOrder checks what one step demands of the others. Each by itself is valid.
func ValidateOrder(steps []Step) error {
	threadsGone, idleGone := false, false
	for i, step := range steps {
		switch s := step.(type) {
		case *Split:
			if i != len(steps)-1 {
				return errors.New("split: must be the last step, as those behind it would change the sizes; move it to the end")
			}
		case *DropAttributes:
			threadsGone = threadsGone || s.dropsThread()
		case *DropIdle:
			idleGone = true
		case *Aggregate:
			if s.Unit == UnitNanoseconds && threadsGone {
				return errors.New("aggregate: nanoseconds need thread.id, which an earlier drop_attributes removes; move aggregate before it")
			}
			if s.Unit == UnitNanoseconds && idleGone {
				return errors.New("aggregate: after drop_idle, idle time would count as work; move aggregate before it")
			}
		}
	}
	return nil
}
