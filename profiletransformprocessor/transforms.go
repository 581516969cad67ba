package profiletransformprocessor

import "go.opentelemetry.io/collector/pdata/pprofile"

// TransformsConfig says how profiles are reshaped.
type TransformsConfig struct{}

func (c *TransformsConfig) validate() error { return nil }

// transformer reshapes one message, which it owns, into those to hand on, in order. There may be several, or none.
type transformer func(pprofile.Profiles) []pprofile.Profiles

// transformer makes the configuration into a function that any number of goroutines may call. It must be valid.
func (c *TransformsConfig) transformer() (transformer, error) {
	return func(p pprofile.Profiles) []pprofile.Profiles { return []pprofile.Profiles{p} }, nil
}
