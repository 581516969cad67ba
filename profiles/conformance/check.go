// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/internal/canonical"
)

// Check returns the violations in p, or nil if it is a valid profiles message. It never panics and
// does not change p. It checks every [Rule]; for each rule it lists the first violations and counts
// the rest.
func Check(p pprofile.Profiles) []Violation {
	c := checker{p: p, dict: p.Dictionary(), view: dictionary.NewView(p.Dictionary()), count: map[Rule]int{}, seen: map[string]int{}}
	c.resolve()
	c.resources()
	c.tables()
	c.orphans()
	c.totals()
	return c.violations
}

// maxPerRule is the maximum number of listed violations of one rule: enough to see a pattern. A
// hostile message may have millions.
const maxPerRule = 20

type checker struct {
	p          pprofile.Profiles
	dict       pprofile.ProfilesDictionary
	view       dictionary.View
	violations []Violation
	count      map[Rule]int

	// Of attributes whose value contains string references, see resolve.
	resolved   map[int]pcommon.Value
	references map[int][]int32

	// Scratch for the duplicate checks: exact key of an entry → its first index.
	seen map[string]int
	key  []byte
}

func (c *checker) report(rule Rule, where string, index int, format string, args ...any) {
	if c.count[rule]++; c.count[rule] <= maxPerRule {
		c.violations = append(c.violations, Violation{Rule: rule, Where: where, Index: index, Detail: fmt.Sprintf(format, args...)})
	}
}

// whole is the place of violations that do not belong to one list.
const whole = "message"

// totals adds a violation for each rule that has unlisted ones, with their number.
func (c *checker) totals() {
	var more []Violation
	for _, v := range c.violations {
		if n := c.count[v.Rule] - maxPerRule; n > 0 {
			c.count[v.Rule] = 0
			more = append(more, Violation{Rule: v.Rule, Where: whole, Index: -1, Detail: fmt.Sprintf("and %d more", n)})
		}
	}
	c.violations = append(c.violations, more...)
}

// resources checks everything outside the dictionary.
func (c *checker) resources() {
	resources := c.p.ResourceProfiles()
	if resources.Len() == 0 {
		c.report(RuleEmptyList, "resource_profiles", -1, "no resource")
	}
	for r, resource := range resources.All() {
		c.attributeMap("resource_profiles", r, resource.Resource().Attributes(), false)
		c.text("resource_profiles", r, resource.SchemaUrl())
		scopes := resource.ScopeProfiles()
		where := fmt.Sprintf("resource_profiles[%d].scope_profiles", r)
		if scopes.Len() == 0 {
			c.report(RuleEmptyList, where, -1, "no scope")
		}
		for s, scope := range scopes.All() {
			c.attributeMap(where, s, scope.Scope().Attributes(), true)
			c.text(where, s, scope.SchemaUrl(), scope.Scope().Name(), scope.Scope().Version())
			where := fmt.Sprintf("%s[%d].profiles", where, s)
			if scope.Profiles().Len() == 0 {
				c.report(RuleEmptyList, where, -1, "no profile")
			}
			for i, profile := range scope.Profiles().All() {
				c.profile(where, i, profile)
			}
		}
	}
}

func (c *checker) attributeMap(where string, index int, m pcommon.Map, ofScope bool) {
	keys := make(map[string]bool, m.Len())
	for key, value := range m.All() {
		switch {
		case key == "":
			c.report(RuleResourceAttributes, where, index, "an attribute without a key; was the message marshalled while mutable?")
		case keys[key]:
			c.report(RuleResourceAttributes, where, index, "attribute %q twice", key)
		}
		keys[key] = true
		if strings.HasPrefix(key, semconv.PprofScopePrefix) && !ofScope {
			c.report(RulePprofScope, where, index, "attribute %q of a resource", key)
		}
		c.text(where, index, key)
		c.content(where, index, value)
	}
}

// content checks the texts and maps inside a value.
func (c *checker) content(where string, index int, value pcommon.Value) {
	eachText(value, 0, func(s string) { c.text(where, index, s) })
	eachMap(value, 0, func(m pcommon.Map) {
		keys := make([]string, 0, m.Len())
		for key := range m.All() {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for i := 1; i < len(keys); i++ {
			if keys[i] == keys[i-1] {
				c.report(RuleMapKey, where, index, "key %q twice in a map", keys[i])
			}
		}
	})
}

// eachMap visits every map inside a value.
func eachMap(v pcommon.Value, depth int, visit func(pcommon.Map)) {
	if depth > canonical.MaxDepth {
		return
	}
	switch v.Type() {
	case pcommon.ValueTypeSlice:
		for _, x := range v.Slice().All() {
			eachMap(x, depth+1, visit)
		}
	case pcommon.ValueTypeMap:
		visit(v.Map())
		for _, x := range v.Map().All() {
			eachMap(x, depth+1, visit)
		}
	}
}

func (c *checker) profile(where string, index int, p pprofile.Profile) {
	c.attributes(RuleProfileAttributes, where, index, p.AttributeIndices())
	if _, _, ok := c.view.ValueType(p.SampleType()); !ok {
		c.report(RuleValueType, where, index, "sample_type %d, %d of %d strings",
			p.SampleType().TypeStrindex(), p.SampleType().UnitStrindex(), c.dict.StringTable().Len())
	}
	if _, _, ok := c.view.ValueType(p.PeriodType()); !ok {
		c.report(RuleValueType, where, index, "period_type %d, %d of %d strings",
			p.PeriodType().TypeStrindex(), p.PeriodType().UnitStrindex(), c.dict.StringTable().Len())
	}
	c.payload(where, index, p.OriginalPayloadFormat(), p.OriginalPayload().Len())
	c.samples(fmt.Sprintf("%s[%d].samples", where, index), p)
}

// payloadFormats are the known values of original_payload_format.
var payloadFormats = []string{"jfr", "linux_perf", "pprof"}

func (c *checker) payload(where string, index int, format string, size int) {
	c.text(where, index, format)
	if (size > 0) != (format != "") {
		c.report(RulePayload, where, index, "format %q with %d bytes", format, size)
	}
	if format != "" && !slices.Contains(payloadFormats, format) {
		c.report(RulePayloadFormat, where, index, "format %q, must be one of %s", format, strings.Join(payloadFormats, ", "))
	}
}

func (c *checker) samples(where string, p pprofile.Profile) {
	clear(c.seen)
	first := dictionary.ShapeNone
	for i, s := range p.Samples().All() {
		if !c.inRange(s.StackIndex(), c.dict.StackTable().Len()) {
			c.report(RuleSampleReference, where, i, "stack %d of %d", s.StackIndex(), c.dict.StackTable().Len())
		}
		if !c.inRange(s.LinkIndex(), c.dict.LinkTable().Len()) {
			c.report(RuleSampleReference, where, i, "link %d of %d", s.LinkIndex(), c.dict.LinkTable().Len())
		}
		c.attributes(RuleSampleReference, where, i, s.AttributeIndices())
		c.timestamps(where, i, p, s)

		switch got := c.shape(where, i, s); {
		case got == dictionary.ShapeNone || got == first:
		case first == dictionary.ShapeNone:
			first = got
		default:
			c.report(RuleMixedShapes, where, i, "%s after samples with %s", got, first)
		}

		c.begin(s.StackIndex(), s.LinkIndex())
		c.addSet(s.AttributeIndices())
		c.once(RuleSampleTwice, where, i)
	}
}

func (c *checker) shape(where string, index int, s pprofile.Sample) dictionary.Shape {
	shape := dictionary.ShapeOf(s)
	if shape == dictionary.ShapeNone {
		c.report(RuleSampleShape, where, index, "%d values with %d timestamps", s.Values().Len(), s.TimestampsUnixNano().Len())
	}
	return shape
}

func (c *checker) timestamps(where string, index int, p pprofile.Profile, s pprofile.Sample) {
	start, duration := uint64(p.Time()), p.DurationNano()
	for j, t := range s.TimestampsUnixNano().All() {
		// The difference cannot overflow, as start+duration could.
		if t < start || t-start >= duration {
			c.report(RuleTimestampRange, where, index, "timestamp %d is %d, the profile is %d for %d ns", j, t, start, duration)
		}
	}
}

// attributes checks the attribute list of a record.
func (c *checker) attributes(rule Rule, where string, index int, list pcommon.Int32Slice) {
	keys := make([]string, 0, 8)
	for _, i := range list.All() {
		if !c.inRange(i, c.dict.AttributeTable().Len()) {
			c.report(rule, where, index, "attribute %d of %d", i, c.dict.AttributeTable().Len())
			continue
		}
		a, _ := c.view.Attribute(dictionary.AttributeIndex(i))
		keys = append(keys, a.Key)
	}
	slices.Sort(keys)
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] {
			c.report(rule, where, index, "attribute %q twice", keys[i])
		}
	}
}

// inRange is like inTable, but allows index 0 in an empty table: the missing entry 0 is reported
// only once.
func (c *checker) inRange(i int32, n int) bool { return i == 0 || inTable(i, n) }

// inTable reports whether an index is inside a table of n entries.
func inTable[I ~int32](i I, n int) bool { return i >= 0 && int(i) < n }

func (c *checker) text(where string, index int, texts ...string) {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			c.report(RuleText, where, index, "%q is not UTF-8", s)
		}
	}
}

// eachText visits every key and every string inside a value.
func eachText(v pcommon.Value, depth int, visit func(string)) {
	if depth > canonical.MaxDepth {
		return
	}
	switch v.Type() {
	case pcommon.ValueTypeStr:
		visit(v.Str())
	case pcommon.ValueTypeSlice:
		for _, x := range v.Slice().All() {
			eachText(x, depth+1, visit)
		}
	case pcommon.ValueTypeMap:
		for k, x := range v.Map().All() {
			visit(k)
			eachText(x, depth+1, visit)
		}
	}
}

// begin starts the exact key of an entry. The add methods extend the key, and once reports an entry
// whose key occurred before.
func (c *checker) begin(numbers ...int32) {
	c.key = c.key[:0]
	for _, n := range numbers {
		c.key = binary.AppendVarint(c.key, int64(n))
	}
}

func (c *checker) addUint(numbers ...uint64) {
	for _, n := range numbers {
		c.key = binary.AppendUvarint(c.key, n)
	}
}

// addList adds indices in their order; addSet ignores the order.
func (c *checker) addList(list pcommon.Int32Slice) {
	c.addUint(uint64(list.Len()))
	for _, i := range list.All() {
		c.key = binary.AppendVarint(c.key, int64(i))
	}
}

func (c *checker) addSet(list pcommon.Int32Slice) {
	sorted := list.AsRaw()
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	c.addUint(uint64(len(sorted)))
	for _, i := range sorted {
		c.key = binary.AppendVarint(c.key, int64(i))
	}
}

func (c *checker) once(rule Rule, where string, index int) {
	if was, ok := c.seen[string(c.key)]; ok {
		c.report(rule, where, index, "same as %d", was)
		return
	}
	c.seen[string(c.key)] = index
}
