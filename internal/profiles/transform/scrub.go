// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Scrub replaces sensitive text in paths and function names (in PHP, the path of a file is also the
// name of its code), in paths of binaries, in thread names, and in the values of all attributes of
// samples, frames, mappings, profiles, scopes and resources, including nested values. Keys, units
// and types stay unchanged.
//
// It drops the replaced text. Functions, frames and samples that become equal are merged.
type Scrub struct {
	// Preset is PresetHome, which scrubs home directories and attributes that identify a user, or
	// empty.
	Preset string      `mapstructure:"preset"`
	Rules  []ScrubRule `mapstructure:"rules"` // applied in order, after the preset

	// Scrubbing configures Sentry's default data scrubbing, which is applied last.
	Scrubbing scrub.Config `mapstructure:"scrubbing"`
}

// ScrubRule replaces every match of a regular expression (RE2). $1 in Replacement is the first
// group.
type ScrubRule struct {
	Pattern     *regexp.Regexp `mapstructure:"pattern"`
	Replacement string         `mapstructure:"replacement"`
}

// PresetHome is the preset for home directories and user names.
const PresetHome = "home"

// homes match the start of a home directory and its user name, on Linux, macOS and Windows, in
// plain paths and in URLs. They match anywhere, so that a URL path such as /home/news is also
// scrubbed, which errs on the safe side.
var homes = []ScrubRule{
	{regexp.MustCompile(`(?i)([/\\](?:home|users|documents and settings)[/\\]+)[^/\\:"']+`), "${1}" + scrubbed},
	{regexp.MustCompile(`(?i)(/(?:per-user|media)/)[^/:"']+`), "${1}" + scrubbed}, // Nix profiles, mounted disks
}

// userKeys are attributes whose values identify a user.
var userKeys = []string{
	semconv.ProcessOwner, semconv.UserName, semconv.UserFullName, semconv.UserEmail, semconv.UserID, semconv.UserHash,
	semconv.EnduserID, semconv.EnduserPseudoID, semconv.ClientAddress,
}

// scrubbed replaces user names.
const scrubbed = "user"

func (s *Scrub) Validate() error {
	if s.Preset != "" && s.Preset != PresetHome {
		return fmt.Errorf("scrub: preset: is %q, must be %s", s.Preset, PresetHome)
	}
	scrubber, err := scrub.New(s.Scrubbing)
	if err != nil {
		return fmt.Errorf("scrub: scrubbing: %w", err)
	}
	if s.Preset == "" && len(s.Rules) == 0 && scrubber == nil {
		return errors.New("scrub: set preset or rules, e.g. preset: home, or scrubbing: default")
	}
	for i, rule := range s.Rules {
		if rule.Pattern == nil {
			return fmt.Errorf("scrub: rules[%d]: pattern: is missing", i)
		}
	}
	return nil
}

func (s *Scrub) apply(m *message) {
	c := &scrubber{
		message: m, rules: s.Rules, texts: map[string]string{},
		strings: slices.Repeat([]dictionary.StringIndex{unknown}, m.profiles.Dictionary().StringTable().Len()),
	}
	if s.Preset == PresetHome {
		c.rules = append(slices.Clip(homes), s.Rules...)
		c.userKeys = userKeys
	}
	c.names()
	scrubber, _ := scrub.New(s.Scrubbing) // valid
	scrubber.Dictionary(m.profiles)
}

// names applies the rules for names.
func (c *scrubber) names() {
	if len(c.rules) == 0 {
		return
	}
	c.tables()
	for _, resource := range c.profiles.ResourceProfiles().All() {
		c.attributes(resource.Resource().Attributes(), 0)
		for _, scope := range resource.ScopeProfiles().All() {
			c.attributes(scope.Scope().Attributes(), 0)
		}
	}
}

// scrubber caches scrubbed texts, because many table entries share them.
type scrubber struct {
	*message
	rules    []ScrubRule
	userKeys []string
	texts    map[string]string

	strings []dictionary.StringIndex // the same, by position in the string table
}

func (c *scrubber) text(s string) string {
	clean, known := c.texts[s]
	if !known {
		clean = s
		for _, rule := range c.rules {
			clean = rule.Pattern.ReplaceAllString(clean, rule.Replacement)
		}
		c.texts[s] = clean
	}
	return clean
}

func (c *scrubber) tables() {
	dict := c.profiles.Dictionary()
	for i := 1; i < dict.FunctionTable().Len(); i++ {
		c.function(dictionary.FunctionIndex(i))
	}
	for _, mapping := range dict.MappingTable().All() {
		mapping.SetFilenameStrindex(int32(c.string(dictionary.StringIndex(mapping.FilenameStrindex()))))
	}
	for i, entry := range dict.AttributeTable().All() {
		a, _ := c.view.Attribute(dictionary.AttributeIndex(i))
		if i > 0 {
			c.value(a.Key, entry.Value(), 0)
		}
	}
}

func (c *scrubber) function(i dictionary.FunctionIndex) {
	f, _ := c.view.Function(i)
	f.Name, f.SystemName, f.Filename = c.string(f.Name), c.string(f.SystemName), c.string(f.Filename)
	if f.Name|f.SystemName|f.Filename == 0 {
		f = dictionary.Function{} // a line number alone is not a function
	}
	c.edit.SetFunction(i, f)
}

// unknown marks an entry that has not been scrubbed yet.
const unknown = dictionary.StringIndex(-1)

// string scrubs each entry of the string table only once, because many records may refer to a long
// entry.
func (c *scrubber) string(i dictionary.StringIndex) dictionary.StringIndex {
	if int(i) >= len(c.strings) { // added by the scrubber
		return i
	}
	if c.strings[i] == unknown {
		c.strings[i] = i
		text := c.view.Text(i)
		if clean := c.text(text); clean != text {
			c.strings[i] = c.edit.String(clean)
		}
	}
	return c.strings[i]
}

func (c *scrubber) attributes(m pcommon.Map, depth int) {
	for key, value := range m.All() {
		c.value(key, value, depth)
	}
}

// maxDepth bounds recursion into values. Valid senders do not exceed it, because most protobuf
// decoders reject more than 100 levels. Deeper values are replaced.
const maxDepth = 100

func (c *scrubber) value(key string, v pcommon.Value, depth int) {
	switch {
	case slices.Contains(c.userKeys, key):
		v.SetStr(scrubbed)
	case v.Type() == pcommon.ValueTypeStr:
		if clean := c.text(v.Str()); clean != v.Str() {
			v.SetStr(clean)
		}
	case depth > maxDepth:
		v.SetStr(scrubbed)
	case v.Type() == pcommon.ValueTypeSlice:
		for _, element := range v.Slice().All() {
			c.value("", element, depth+1)
		}
	case v.Type() == pcommon.ValueTypeMap:
		c.attributes(v.Map(), depth+1)
	}
}
