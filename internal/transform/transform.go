package transform

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary"
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

// Validate checks steps for themselves and in their order.
func Validate(steps []Step) error {
	threadsGone, idleGone := false, false
	for i, step := range steps {
		if err := step.Validate(); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
		switch s := step.(type) {
		case *Split:
			if i != len(steps)-1 {
				return fmt.Errorf("[%d]: split: must be the last step: the steps behind it would change the sizes; move it to the end", i)
			}
		case *DropAttributes:
			threadsGone = threadsGone || s.dropsThread()
		case *DropIdle:
			idleGone = true
		case *Aggregate:
			if s.Unit == UnitNanoseconds && threadsGone {
				return fmt.Errorf("[%d]: aggregate: nanoseconds need %s, which an earlier drop_attributes removes; move aggregate before it",
					i, keyThreadID)
			}
			if s.Unit == UnitNanoseconds && idleGone {
				return fmt.Errorf("[%d]: aggregate: after drop_idle, idle time would count as work; move aggregate before it", i)
			}
		}
	}
	return nil
}
