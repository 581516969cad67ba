// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// Scrub replaces text that should not leave: in paths and names of functions (PHP calls the code of a file by its path), in
// paths of binaries, in names of threads, and in the values of all attributes, nested ones included: those of samples, frames,
// mappings, profiles, scopes and resources. Keys, units and types stay.
//
// It drops what it replaces. Functions, frames and samples that became the same become one.
type Scrub struct {
	// Preset PresetHome knows home directories and attributes that name a user.
	Preset string      `mapstructure:"preset"`
	Rules  []ScrubRule `mapstructure:"rules"` // in this order, after the preset's
}

// ScrubRule replaces every match of a regular expression (RE2). $1 in Replacement is the first group.
type ScrubRule struct {
	Pattern     *regexp.Regexp `mapstructure:"pattern"`
	Replacement string         `mapstructure:"replacement"`
}

// PresetHome is the preset for home directories and user names.
const PresetHome = "home"

// homes match the start of a home directory and the name in it, on Linux, macOS and Windows, in plain paths and inside URLs.
// They match anywhere: a page at /home/news loses its name, too, which is the safe mistake.
var homes = []ScrubRule{
	{regexp.MustCompile(`(?i)([/\\](?:home|users|documents and settings)[/\\]+)[^/\\:"']+`), "${1}" + scrubbed},
	{regexp.MustCompile(`(?i)(/(?:per-user|media)/)[^/:"']+`), "${1}" + scrubbed}, // Nix profiles, mounted disks
}

// userKeys are attributes whose value is a user.
var userKeys = []string{
	semconv.ProcessOwner, semconv.UserName, semconv.UserFullName, semconv.UserEmail, semconv.UserID, semconv.UserHash,
	semconv.EnduserID, semconv.EnduserPseudoID, semconv.ClientAddress,
}

// scrubbed stands for a name.
const scrubbed = "user"

func (s *Scrub) Validate() error {
	if s.Preset != "" && s.Preset != PresetHome {
		return fmt.Errorf("scrub: preset: %q is not known; the only one is %s", s.Preset, PresetHome)
	}
	if s.Preset == "" && len(s.Rules) == 0 {
		return errors.New("scrub: give a preset or rules, as in preset: home")
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
		c.users = userKeys
	}
	c.tables()
	for _, resource := range m.profiles.ResourceProfiles().All() {
		c.attributes(resource.Resource().Attributes(), 0)
		for _, scope := range resource.ScopeProfiles().All() {
			c.attributes(scope.Scope().Attributes(), 0)
		}
	}
}

// scrubber remembers what became of a text: tables repeat them.
type scrubber struct {
	*message
	rules []ScrubRule
	users []string
	texts map[string]string

	strings []dictionary.StringIndex // likewise, of the string table
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
		f = dictionary.Function{} // a line number alone is no function
	}
	c.edit.SetFunction(i, f)
}

// unknown is in place of an entry that was not scrubbed yet.
const unknown = dictionary.StringIndex(-1)

// string scrubs an entry of the string table, once: many may refer to one that is long.
func (c *scrubber) string(i dictionary.StringIndex) dictionary.StringIndex {
	if int(i) >= len(c.strings) { // was added here
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

// maxDepth bounds recursion into values. Most protobuf decoders refuse more than 100 levels, so nobody honest gets there; what
// is below cannot be promised to be clean and goes.
const maxDepth = 100

func (c *scrubber) value(key string, v pcommon.Value, depth int) {
	switch {
	case slices.Contains(c.users, key):
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
