// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"regexp"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// Threads keeps or drops samples by thread name or, for threads without a name, by thread ID. The
// patterns are regular expressions (RE2) that match anywhere in the text: use ^main$ for an exact
// match.
//
// It drops the samples of threads that match a pattern in Drop or, if Keep is set, no pattern in
// Keep.
type Threads struct {
	Keep []*regexp.Regexp `mapstructure:"keep"`
	Drop []*regexp.Regexp `mapstructure:"drop"`
}

func (s *Threads) Validate() error {
	if len(s.Keep)+len(s.Drop) == 0 {
		return errors.New("threads: set keep or drop to at least one pattern, e.g. drop: ['^GC ']")
	}
	return nil
}

func (s *Threads) apply(m *message) {
	drops, names, ids := map[*string]bool{}, m.textsOf(semconv.ThreadName), m.textsOf(semconv.ThreadID)
	m.drop(Thread, func(pprofile.Profile) func(pprofile.Sample) bool {
		return func(sample pprofile.Sample) bool {
			name := names.of(sample.AttributeIndices())
			if name == nil || *name == "" {
				name = ids.of(sample.AttributeIndices())
			}
			dropped, known := drops[name]
			if !known {
				dropped = s.drops(name)
				drops[name] = dropped
			}
			return dropped
		}
	})
}

// drops reports whether samples of a thread are dropped. nil is a thread without a name and ID.
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
