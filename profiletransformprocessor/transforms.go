// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/transform"
)

// transformsConfig is the ordered list of transforms.
type transformsConfig []TransformConfig

// TransformConfig is an element of the list: a map with one key, which is either the name of a
// transform or "preset".
type TransformConfig struct {
	steps   []transform.Step // several for a preset
	written map[string]any   // the element as configured
}

var (
	_ confmap.Unmarshaler = (*TransformConfig)(nil)
	_ confmap.Marshaler   = TransformConfig{}
	_ confmap.Validator   = (*TransformConfig)(nil)
)

// checkListForm checks the form of the transforms before confmap does, because errors of confmap do
// not state the fix.
func checkListForm(written any) error {
	if _, is := written.(map[string]any); is {
		return errors.New("transforms: is a map, must be a list; start each transform with a dash, e.g. `- preset: kafka`")
	}
	elements, _ := written.([]any)
	for i, element := range elements {
		name, is := element.(string)
		switch {
		case is && slices.Contains(transform.PresetNames(), name):
			return fmt.Errorf("transforms[%d]: is a name without settings; write `- preset: %s`", i, name)
		case is:
			return fmt.Errorf("transforms[%d]: is a name without settings; write `- %s: {}`", i, name)
		}
	}
	return nil
}

// Unmarshal finds the transform with the given name and reads its settings.
func (c *TransformConfig) Unmarshal(conf *confmap.Conf) error {
	c.written = conf.ToStringMap()
	names := slices.Sorted(maps.Keys(c.written))
	if len(names) != 1 {
		return fmt.Errorf("an element must have one key, this one has %d (%s); start a new element for each transform, e.g. `- drop_idle: {}`",
			len(names), strings.Join(names, ", "))
	}
	name := names[0]
	if name == "preset" {
		steps, err := transform.Preset(fmt.Sprint(conf.Get(name)))
		c.steps = steps
		return err
	}
	step, err := transform.New(name)
	if err != nil {
		return err
	}
	settings, err := conf.Sub(name)
	if err != nil {
		return fmt.Errorf("%s: the settings must be a map, e.g. `%s: {}`: %w", name, name, err)
	}
	c.steps = []transform.Step{step}
	if err := collector.UnmarshalConfig(settings, step); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Marshal returns the element as it was configured, for print-config.
func (c TransformConfig) Marshal(conf *confmap.Conf) error {
	return conf.Merge(confmap.NewFromStringMap(c.written))
}

// Validate checks the settings of the transform.
func (c *TransformConfig) Validate() error {
	for _, step := range c.steps {
		if err := step.Validate(); err != nil {
			return err
		}
	}
	return nil
}

func (c transformsConfig) steps() (steps []transform.Step) {
	for _, t := range c {
		steps = append(steps, t.steps...)
	}
	return steps
}

// validate checks the order of the transforms.
func (c transformsConfig) validate() error {
	if err := transform.ValidateOrder(c.steps()); err != nil {
		return fmt.Errorf("transforms: %w", err)
	}
	return nil
}

// transformer converts a message, which it may change, to zero or more messages to forward in
// order.
type transformer func(pprofile.Profiles) ([]pprofile.Profiles, transform.Losses)

// transformer returns the function that applies the transforms. It is safe for concurrent use. The
// configuration must be valid.
func (c transformsConfig) transformer() transformer {
	steps := c.steps()
	return func(p pprofile.Profiles) ([]pprofile.Profiles, transform.Losses) { return transform.Apply(p, steps) }
}
