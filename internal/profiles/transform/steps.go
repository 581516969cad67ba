// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// steps has the constructors of the steps by name. They set the defaults.
var steps = map[string]func() Step{
	"aggregate":           func() Step { return &Aggregate{Unit: UnitNanoseconds} },
	"active_thread_only":  func() Step { return &ActiveThreadOnly{} },
	"resource_to_samples": func() Step { return &ResourceToSamples{} },
	"split":               func() Step { return &Split{} },
	"drop_attributes":     func() Step { return &DropAttributes{} },
	"drop_idle":           func() Step { return &DropIdle{Functions: []string{"(idle)"}} },
	"threads":             func() Step { return &Threads{} },
	"frames":              func() Step { return &Frames{Name: DefaultFrameName} },
	"scrub":               func() Step { return &Scrub{} },
	"labels":              func() Step { return &Labels{MaxPerSample: 20, MaxValueBytes: 2048} },
	"profile_type":        func() Step { return &ProfileType{} },
	"unique_times":        func() Step { return &UniqueTimes{} },
}

// Names returns the names of all steps, sorted.
func Names() []string { return slices.Sorted(maps.Keys(steps)) }

// New returns the step with a name, with its defaults.
func New(name string) (Step, error) {
	step, known := steps[name]
	if !known {
		return nil, fmt.Errorf("%q is not a transform, must be preset or one of %s", name, strings.Join(Names(), ", "))
	}
	return step(), nil
}
