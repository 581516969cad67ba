// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/internal/canonical"
)

// tables checks the seven tables in the same way: entry 0 is zero, the references of every entry
// are valid, no entry occurs twice.
func (c *checker) tables() {
	c.mappingTable()
	c.locationTable()
	c.functionTable()
	c.linkTable()
	c.stringTable()
	c.attributeTable()
	c.stackTable()
}

func (c *checker) zeroEntry(table string, n int, isZero func() bool) {
	switch {
	case n == 0:
		c.report(RuleZeroEntry, table, 0, "missing")
	case !isZero():
		c.report(RuleZeroEntry, table, 0, "not the zero value")
	}
	clear(c.seen)
}

func (c *checker) mappingTable() {
	const table = "mapping_table"
	t := c.dict.MappingTable()
	c.zeroEntry(table, t.Len(), func() bool { return t.At(0).Equal(pprofile.NewMapping()) })
	for i, m := range t.All() {
		if !c.inRange(m.FilenameStrindex(), c.dict.StringTable().Len()) {
			c.report(RuleMapping, table, i, "file name %d of %d strings", m.FilenameStrindex(), c.dict.StringTable().Len())
		}
		c.attributes(RuleMapping, table, i, m.AttributeIndices())
		if (m.MemoryStart() != 0 || m.MemoryLimit() != 0) && m.MemoryStart() >= m.MemoryLimit() {
			c.report(RuleMapping, table, i, "starts at %#x, ends at %#x", m.MemoryStart(), m.MemoryLimit())
		}
		if i > 0 && !c.hasBuildID(m.AttributeIndices()) {
			c.report(RuleBuildID, table, i, "no process.executable.build_id.*")
		}
		c.begin(m.FilenameStrindex())
		c.addUint(m.MemoryStart(), m.MemoryLimit(), m.FileOffset())
		c.addSet(m.AttributeIndices())
		c.once(RuleMappingTwice, table, i)
	}
}

// hasBuildID reports whether a mapping has at least one of the required IDs.
func (c *checker) hasBuildID(list pcommon.Int32Slice) bool {
	for _, i := range list.All() {
		a, _ := c.view.Attribute(dictionary.AttributeIndex(i))
		switch a.Key {
		case semconv.ProcessExecutableBuildIDGNU, semconv.ProcessExecutableBuildIDGo, semconv.ProcessExecutableBuildIDHtlhash:
			return true
		}
	}
	return false
}

func (c *checker) locationTable() {
	const table = "location_table"
	t := c.dict.LocationTable()
	c.zeroEntry(table, t.Len(), func() bool { return t.At(0).Equal(pprofile.NewLocation()) })
	for i, l := range t.All() {
		if !c.inRange(l.MappingIndex(), c.dict.MappingTable().Len()) {
			c.report(RuleLocation, table, i, "mapping %d of %d", l.MappingIndex(), c.dict.MappingTable().Len())
		}
		c.attributes(RuleLocation, table, i, l.AttributeIndices())
		c.address(table, i, l)
		for j, line := range l.Lines().All() {
			if !c.inRange(line.FunctionIndex(), c.dict.FunctionTable().Len()) {
				c.report(RuleLocation, table, i, "line %d: function %d of %d", j, line.FunctionIndex(), c.dict.FunctionTable().Len())
			}
			if line.Line() < 0 || line.Column() < 0 {
				c.report(RuleLocation, table, i, "line %d is at %d:%d", j, line.Line(), line.Column())
			}
		}
		c.begin(l.MappingIndex())
		c.addUint(l.Address(), uint64(l.Lines().Len()))
		for _, line := range l.Lines().All() {
			c.addUint(uint64(uint32(line.FunctionIndex())), uint64(line.Line()), uint64(line.Column()))
		}
		c.addSet(l.AttributeIndices())
		c.once(RuleLocationTwice, table, i)
	}
}

// address checks that an address is in its mapping. Its limit belongs to it (profiles.proto).
func (c *checker) address(table string, index int, l pprofile.Location) {
	if l.Address() == 0 || l.MappingIndex() == 0 || !inTable(l.MappingIndex(), c.dict.MappingTable().Len()) {
		return
	}
	m := c.dict.MappingTable().At(int(l.MappingIndex()))
	if isRange := m.MemoryLimit() > m.MemoryStart(); isRange && (l.Address() < m.MemoryStart() || l.Address() > m.MemoryLimit()) {
		c.report(RuleAddress, table, index, "address %#x, mapping %d is from %#x to %#x", l.Address(), l.MappingIndex(), m.MemoryStart(), m.MemoryLimit())
	}
}

func (c *checker) functionTable() {
	const table = "function_table"
	t := c.dict.FunctionTable()
	c.zeroEntry(table, t.Len(), func() bool { return t.At(0).Equal(pprofile.NewFunction()) })
	for i, f := range t.All() {
		for _, s := range [...]int32{f.NameStrindex(), f.SystemNameStrindex(), f.FilenameStrindex()} {
			if !c.inRange(s, c.dict.StringTable().Len()) {
				c.report(RuleFunction, table, i, "string %d of %d", s, c.dict.StringTable().Len())
			}
		}
		if f.StartLine() < 0 {
			c.report(RuleFunction, table, i, "starts at line %d", f.StartLine())
		}
		if i > 0 && f.NameStrindex() == 0 && f.SystemNameStrindex() == 0 && f.FilenameStrindex() == 0 {
			c.report(RuleFunctionUnnamed, table, i, "no name, no system name, no file")
		}
		c.begin(f.NameStrindex(), f.SystemNameStrindex(), f.FilenameStrindex())
		c.addUint(uint64(f.StartLine()))
		c.once(RuleFunctionTwice, table, i)
	}
}

func (c *checker) linkTable() {
	const table = "link_table"
	t := c.dict.LinkTable()
	c.zeroEntry(table, t.Len(), func() bool { return t.At(0).Equal(pprofile.NewLink()) })
	for i, l := range t.All() {
		trace, span := l.TraceID(), l.SpanID()
		if i > 0 && (trace.IsEmpty() || span.IsEmpty()) {
			c.report(RuleLink, table, i, "trace %q, span %q", trace, span)
		}
		c.begin()
		c.key = append(append(c.key, trace[:]...), span[:]...)
		c.once(RuleLinkTwice, table, i)
	}
}

func (c *checker) stringTable() {
	const table = "string_table"
	t := c.dict.StringTable()
	c.zeroEntry(table, t.Len(), func() bool { return t.At(0) == "" })
	for i, s := range t.All() {
		c.text(table, i, s)
		c.begin()
		c.key = append(c.key, s...)
		c.once(RuleStringTwice, table, i)
	}
}

// tableAttributes is also the place of wrong references, see resolve.
const tableAttributes = "attribute_table"

func (c *checker) attributeTable() {
	const table = tableAttributes
	t := c.dict.AttributeTable()
	c.zeroEntry(table, t.Len(), func() bool {
		a := t.At(0)
		return a.KeyStrindex() == 0 && a.UnitStrindex() == 0 && a.Value().Type() == pcommon.ValueTypeEmpty
	})
	for i, a := range t.All() {
		if !c.inRange(a.KeyStrindex(), c.dict.StringTable().Len()) {
			c.report(RuleAttribute, table, i, "key %d of %d strings", a.KeyStrindex(), c.dict.StringTable().Len())
		}
		if !c.inRange(a.UnitStrindex(), c.dict.StringTable().Len()) {
			c.report(RuleAttribute, table, i, "unit %d of %d strings", a.UnitStrindex(), c.dict.StringTable().Len())
		}
		value := c.value(i, a)
		c.content(table, i, value)
		known, _ := c.view.Attribute(dictionary.AttributeIndex(i))
		c.convention(table, i, known.Key, value)
		if known.Unit != "" && !isUCUM(known.Unit) {
			c.report(RuleUnit, table, i, "unit %q of attribute %q", known.Unit, known.Key)
		}
		c.begin(a.KeyStrindex(), a.UnitStrindex())
		var ok bool
		if c.key, ok = canonical.AppendValue(c.key, value, 0); !ok {
			c.report(RuleAttribute, table, i, "value nested deeper than %d", canonical.MaxDepth)
			continue
		}
		c.once(RuleAttributeTwice, table, i)
	}
}

// convention checks attributes that have requirements in the semantic conventions.
func (c *checker) convention(table string, index int, key string, value pcommon.Value) {
	if strings.HasPrefix(key, semconv.PprofScopePrefix) {
		c.report(RulePprofScope, table, index, "attribute %q outside of a scope", key)
	}
	if key != semconv.ProfileFrameType {
		return
	}
	if value.Type() != pcommon.ValueTypeStr {
		c.report(RuleFrameType, table, index, "%s of type %s", key, value.Type())
		return
	}
	if known := frameTypes[strings.ToLower(value.Str())]; known != "" && known != value.Str() {
		c.report(RuleFrameType, table, index, "%s is %q, its well-known value is %q", key, value.Str(), known)
	}
}

// frameTypes maps names of interpreters and languages to the well-known values of
// profile.frame.type to which they belong. Other values are custom ones, which are allowed. The map
// omits names that could also mean an engine without a well-known value, such as "javascript".
var frameTypes = map[string]string{
	"beam": "beam", "erlang": "beam",
	"cpython": "cpython", "python": "cpython",
	"cuda":   "cuda",
	"dotnet": "dotnet", ".net": "dotnet",
	"go": "go", "golang": "go",
	"jvm": "jvm", "java": "jvm",
	"kernel": "kernel",
	"luajit": "luajit",
	"native": "native", "c": "native", "c++": "native", "cpp": "native",
	"perl": "perl",
	"php":  "php",
	"ruby": "ruby",
	"rust": "rust",
	"v8js": "v8js", "v8": "v8js",
}

func (c *checker) stackTable() {
	const table = "stack_table"
	t := c.dict.StackTable()
	c.zeroEntry(table, t.Len(), func() bool { return t.At(0).LocationIndices().Len() == 0 })
	for i, s := range t.All() {
		for _, l := range s.LocationIndices().All() {
			if !c.inRange(l, c.dict.LocationTable().Len()) {
				c.report(RuleStack, table, i, "location %d of %d", l, c.dict.LocationTable().Len())
			}
		}
		c.begin()
		c.addList(s.LocationIndices())
		c.once(RuleStackTwice, table, i)
	}
}
