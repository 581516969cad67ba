// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"regexp"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// Threads keeps or drops samples by the name of their thread; a thread without a name is matched by its id. The patterns are
// regular expressions (RE2) that match anywhere in the name: write ^main$ for the whole name.
//
// It drops the samples of threads that match one of Drop, or, where Keep is given, none of Keep.
type Threads struct {
	Keep []*regexp.Regexp `mapstructure:"keep"`
	Drop []*regexp.Regexp `mapstructure:"drop"`
}

func (s *Threads) Validate() error {
	if len(s.Keep)+len(s.Drop) == 0 {
		return errors.New("threads: keep or drop: give at least one pattern, as in drop: ['^GC ']")
	}
	return nil
}

func (s *Threads) apply(m *message) {
	gone, names, ids := map[*string]bool{}, m.textsOf(semconv.ThreadName), m.textsOf(semconv.ThreadID)
	m.drop(Thread, func(pprofile.Profile) func(pprofile.Sample) bool {
		return func(sample pprofile.Sample) bool {
			name := names.of(sample.AttributeIndices())
			if name == nil || *name == "" {
				name = ids.of(sample.AttributeIndices())
			}
			answer, known := gone[name]
			if !known {
				answer = s.drops(name)
				gone[name] = answer
			}
			return answer
		}
	})
}

// drops tells for the name of a thread, nil where it has neither name nor id.
func (s *Threads) drops(name *string) bool {
	text := ""
	if name != nil {
		text = *name
	}
	return matchAny(s.Drop, text) || len(s.Keep) > 0 && !matchAny(s.Keep, text)
}

func matchAny(patterns []*regexp.Regexp, text string) bool {
	for _, p := range patterns {
		if p.MatchString(text) {
			return true
		}
	}
	return false
}
