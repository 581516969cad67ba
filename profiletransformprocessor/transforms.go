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

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/transform"
)

// TransformsConfig says how profiles are reshaped: the transforms in their order.
type TransformsConfig []TransformConfig

// TransformConfig is an element of the list: a map with one key, the name of a transform with its settings, or preset with a
// name.
type TransformConfig struct {
	steps   []transform.Step // several for a preset
	written map[string]any   // the element as it was written
}

var (
	_ confmap.Unmarshaler = (*TransformConfig)(nil)
	_ confmap.Marshaler   = TransformConfig{}
	_ confmap.Validator   = (*TransformConfig)(nil)
)

// checkForm looks at what stands under transforms before confmap does, which would not say how to write it.
func checkForm(written any) error {
	if _, is := written.(map[string]any); is {
		return errors.New("transforms: is a map, must be a list; begin each transform with a dash, as in `- preset: kafka`")
	}
	elements, _ := written.([]any)
	for i, element := range elements {
		name, is := element.(string)
		switch {
		case is && slices.Contains(transform.PresetNames(), name):
			return fmt.Errorf("transforms[%d]: is only a name; write `- preset: %s`", i, name)
		case is:
			return fmt.Errorf("transforms[%d]: is only a name; write `- %s: {}`", i, name)
		}
	}
	return nil
}

// Unmarshal finds the transform that the key names and reads its settings.
func (c *TransformConfig) Unmarshal(conf *confmap.Conf) error {
	c.written = conf.ToStringMap()
	names := slices.Sorted(maps.Keys(c.written))
	if len(names) != 1 {
		return fmt.Errorf("an element is one transform, this one has %d keys (%s); begin a new element for each, as in `- drop_idle: {}`",
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
		return fmt.Errorf("%s: the settings must be a map, as in `%s: {}`: %w", name, name, err)
	}
	c.steps = []transform.Step{step}
	return settings.Unmarshal(step)
}

// Marshal writes the element as it was read, for print-config.
func (c TransformConfig) Marshal(conf *confmap.Conf) error {
	return conf.Merge(confmap.NewFromStringMap(c.written))
}

// Validate checks every transform by itself.
func (c *TransformConfig) Validate() error {
	for _, step := range c.steps {
		if err := step.Validate(); err != nil {
			return err
		}
	}
	return nil
}

func (c TransformsConfig) steps() (steps []transform.Step) {
	for _, t := range c {
		steps = append(steps, t.steps...)
	}
	return steps
}

// validate checks the transforms in their order.
func (c TransformsConfig) validate() error {
	if err := transform.ValidateOrder(c.steps()); err != nil {
		return fmt.Errorf("transforms: %w", err)
	}
	return nil
}

// transformer reshapes one message, which it owns, into those to hand on, in order. There may be several, or none.
type transformer func(pprofile.Profiles) ([]pprofile.Profiles, transform.Losses)

// transformer makes the configuration into a function that any number of goroutines may call. It must be valid.
func (c TransformsConfig) transformer() transformer {
	steps := c.steps()
	return func(p pprofile.Profiles) ([]pprofile.Profiles, transform.Losses) { return transform.Apply(p, steps) }
}
