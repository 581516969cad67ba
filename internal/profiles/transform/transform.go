// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Step is one transform with its settings. Applying a step does not change it, so steps can be
// shared.
type Step interface {
	// Validate checks the settings. Its messages name the key and a valid value.
	Validate() error
	apply(m *message)
}

// Apply applies steps in order to p, which it may change. It returns the resulting messages: p
// itself, several messages after split, or none if nothing remains.
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
		return nil, m.losses
	}
	dictionary.Compact(p)
	if m.split != nil {
		return m.split.parts(p), m.losses
	}
	return []pprofile.Profiles{p}, m.losses
}

// ValidateOrder checks the order of valid steps.
func ValidateOrder(steps []Step) error {
	threadsGone, idleGone := false, false
	for i, step := range steps {
		switch s := step.(type) {
		case *Split:
			if i != len(steps)-1 {
				return errors.New("split: must be the last step, because later steps would change the sizes; move it to the end")
			}
		case *DropAttributes:
			threadsGone = threadsGone || s.dropsThread()
		case *DropIdle:
			idleGone = true
		case *Aggregate:
			if s.Unit == UnitNanoseconds && threadsGone {
				return errors.New("aggregate: unit nanoseconds needs thread.id, which an earlier drop_attributes removes; move aggregate before it")
			}
			if s.Unit == UnitNanoseconds && idleGone {
				return errors.New("aggregate: after drop_idle, idle time would count as busy time; move aggregate before it")
			}
		}
	}
	return nil
}
