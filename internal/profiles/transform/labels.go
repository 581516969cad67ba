// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Labels turns sample attributes into valid labels of time series, for backends that create a
// series for each set of sample attributes. In keys, it replaces all characters except letters,
// digits and underscores with underscores, because dots need quotes in Grafana queries. Attributes
// whose keys are in Keep are neither renamed nor dropped.
//
// It drops other attributes beyond MaxPerSample and attributes that repeat a key, and truncates
// texts to MaxValueBytes. Grafana Pyroscope rejects requests above its limits.
type Labels struct {
	Keep          []string `mapstructure:"keep"`
	MaxPerSample  int      `mapstructure:"max_per_sample"`
	MaxValueBytes int      `mapstructure:"max_value_bytes"`
}

// maxLabelName is Pyroscope's limit, validation.max-length-label-name.
const maxLabelName = 1024

func (s *Labels) Validate() error {
	switch {
	case s.MaxPerSample < 1:
		return fmt.Errorf("labels: max_per_sample: is %d, must be at least 1, e.g. 20", s.MaxPerSample)
	case s.MaxValueBytes < 1:
		return fmt.Errorf("labels: max_value_bytes: is %d, must be at least 1, e.g. 2048", s.MaxValueBytes)
	case slices.Contains(s.Keep, ""):
		return errors.New("labels: keep: must not have an empty key; remove it")
	}
	return nil
}

func (s *Labels) apply(m *message) {
	l := labels{Labels: s, message: m, of: map[int32]label{}}
	m.each(func(_ pcommon.Resource, profile pprofile.Profile) {
		for _, sample := range profile.Samples().All() {
			l.rewrite(sample.AttributeIndices())
		}
	})
}

// labels caches the label of each entry of the attribute table. A label is created when a sample
// first refers to the entry.
type labels struct {
	*Labels
	*message
	of map[int32]label
}

type label struct {
	key       string
	attribute int32
}

func (l *labels) rewrite(list pcommon.Int32Slice) {
	kept := list.AsRaw()[:0]
	var keys []string
	for _, i := range list.All() {
		label := l.label(i)
		fits := len(kept) < l.MaxPerSample || slices.Contains(l.Keep, label.key)
		if fits && !slices.Contains(keys, label.key) {
			kept, keys = append(kept, label.attribute), append(keys, label.key)
		}
	}
	list.FromRaw(kept)
}

func (l *labels) label(i int32) label {
	made, known := l.of[i]
	if known {
		return made
	}
	a, _ := l.view.Attribute(dictionary.AttributeIndex(i))
	made = label{key: a.Key, attribute: i}
	if !slices.Contains(l.Keep, a.Key) {
		made.key = labelName(a.Key)
	}
	long := a.Value.Type() == pcommon.ValueTypeStr && len(a.Value.Str()) > l.MaxValueBytes
	if made.key != a.Key || long {
		value := a.Value
		if long {
			value = pcommon.NewValueStr(cut(a.Value.Str(), l.MaxValueBytes))
		}
		made.attribute = int32(l.edit.Attribute(made.key, value))
	}
	l.of[i] = made
	return made
}

// labelName converts a key to a label name.
func labelName(key string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, key[:min(len(key), maxLabelName-1)])
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// cut truncates a text to at most n bytes, without splitting a character.
func cut(text string, n int) string {
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
