// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// MetricsConfig is the section "metrics".
type MetricsConfig struct {
	// Include and Exclude are patterns of metric names, in which * matches any text. Without
	// Include, all metrics that Exclude does not match are sent.
	Include []string `mapstructure:"include"`
	Exclude []string `mapstructure:"exclude"`

	// Exemplars sends each exemplar of a histogram as a value of a distribution, with its trace.
	Exemplars bool `mapstructure:"exemplars"`

	// Buckets sends a counter for each non-empty bucket of a histogram.
	Buckets bool `mapstructure:"buckets"`
}

// maxPatterns bounds the matching time per metric.
const maxPatterns = 1000

func (c *MetricsConfig) validate() error {
	var problems []error
	for key, patterns := range map[string][]string{"include": c.Include, "exclude": c.Exclude} {
		if len(patterns) > maxPatterns || slices.Contains(patterns, "") {
			problems = append(problems, fmt.Errorf("metrics::%s: has %d patterns, must have at most %d and no empty ones; use * for any text", key, len(patterns), maxPatterns))
		}
	}
	return errors.Join(problems...)
}

// selector returns a function that reports whether a metric is sent.
func (c *MetricsConfig) selector() func(name string) bool {
	include, exclude := anyOf(c.Include), anyOf(c.Exclude)
	return func(name string) bool {
		return (include == nil || include.MatchString(name)) && (exclude == nil || !exclude.MatchString(name))
	}
}

// anyOf returns an expression that matches any of the patterns, or nil if there are none.
func anyOf(patterns []string) *regexp.Regexp {
	if len(patterns) == 0 {
		return nil
	}
	var alternatives []string
	for _, pattern := range patterns {
		alternatives = append(alternatives, strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*"))
	}
	return regexp.MustCompile("(?s)^(?:" + strings.Join(alternatives, "|") + ")$")
}
