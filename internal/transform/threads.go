package transform

import (
	"errors"
	"regexp"

	"go.opentelemetry.io/collector/pdata/pprofile"
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
	gone := map[string]bool{}
	m.drop(Thread, func(pprofile.Profile) func(pprofile.Sample) bool {
		return func(sample pprofile.Sample) bool {
			name := m.threadName(sample)
			answer, known := gone[name]
			if !known {
				answer = matchAny(s.Drop, name) || len(s.Keep) > 0 && !matchAny(s.Keep, name)
				gone[name] = answer
			}
			return answer
		}
	})
}

func (m *message) threadName(s pprofile.Sample) string {
	if name, ok := m.view.Get(s.AttributeIndices(), keyThreadName); ok && name.AsString() != "" {
		return name.AsString()
	}
	return m.thread(s)
}

func matchAny(patterns []*regexp.Regexp, text string) bool {
	for _, p := range patterns {
		if p.MatchString(text) {
			return true
		}
	}
	return false
}
