// SPDX-License-Identifier: Apache-2.0

package dictionarytest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Dump writes a message as text for people: for golden files, which are reviewed line by line, and
// for debugging. Every index is resolved and no table position is printed, so one new string
// changes only the lines that show it. Two messages with equal content give equal text, however
// their dictionaries are ordered. What is unset is left out.
//
//	resource
//	  service.name = "shop"
//	scope test version=1.0
//	profile ab000000000000000000000000000001
//	  time      2023-11-14T22:13:20Z
//	  duration  30.000000ms
//	  samples   samples/count
//	  period    wall/nanoseconds every 10.000000ms
//	  environment = "test"
//	  mapping libshop.so = /lib/libshop.so 0x1000-0x2000
//	    process.executable.build_id.gnu = "abcd"
//	  sample thread.id=7 thread.name="main"
//	    link trace 01000000000000000000000000000000 span 0200000000000000
//	    2 timestamps
//	      +0.000000ms +10.000000ms
//	    stack
//	      leaf leaf.go:12:5 start=3 inlined
//	      root ?:40 system=_Zroot {in_app=true profile.frame.type="go"}
//
// Timestamps are offsets from the profile's time, exact to the nanosecond. Stacks are leaf first.
// Names are quoted when they contain anything but plain characters, so that no name can imitate the
// layout. References that point outside their table read like "!function 17".
func Dump(p pprofile.Profiles) string {
	d := dumper{dict: p.Dictionary(), view: dictionary.NewView(p.Dictionary())}
	d.message(p)
	return d.out.String()
}

type dumper struct {
	dict pprofile.ProfilesDictionary
	view dictionary.View
	out  strings.Builder

	// compare adapts the text for [Diff]: samples in the order of their text, because their order
	// has no meaning, and a digest of the original payload.
	compare bool

	mappings map[dictionary.MappingIndex]string // names within the current profile
}

func (d *dumper) message(p pprofile.Profiles) {
	for _, resource := range p.ResourceProfiles().All() {
		d.line(0, "resource")
		d.schema(resource.SchemaUrl())
		d.attributeMap(resource.Resource().Attributes())
		d.dropped(resource.Resource().DroppedAttributesCount())
		for _, scope := range resource.ScopeProfiles().All() {
			d.scope(scope.Scope())
			d.schema(scope.SchemaUrl())
			d.attributeMap(scope.Scope().Attributes())
			d.dropped(scope.Scope().DroppedAttributesCount())
			for _, profile := range scope.Profiles().All() {
				d.profile(profile)
			}
		}
	}
}

func (d *dumper) line(indent int, format string, args ...any) {
	for range indent {
		d.out.WriteString("  ")
	}
	fmt.Fprintf(&d.out, format, args...)
	d.out.WriteByte('\n')
}

func (d *dumper) scope(s pcommon.InstrumentationScope) {
	words := []string{"scope"}
	if s.Name() != "" {
		words = append(words, quoteName(s.Name()))
	}
	if s.Version() != "" {
		words = append(words, "version="+quoteName(s.Version()))
	}
	d.line(0, "%s", strings.Join(words, " "))
}

func (d *dumper) schema(url string) {
	if url != "" {
		d.line(1, "schema %s", quoteName(url))
	}
}

func (d *dumper) attributeMap(m pcommon.Map) {
	for _, e := range sortedEntries(m) {
		d.line(1, "%s = %s", quoteName(e.Key), formatValue(e.Value))
	}
}

func (d *dumper) dropped(n uint32) {
	if n > 0 {
		d.line(1, "dropped   %d attributes", n)
	}
}

func (d *dumper) profile(p pprofile.Profile) {
	if id := p.ProfileID(); id.IsEmpty() {
		d.line(0, "profile")
	} else {
		d.line(0, "profile %s", hex.EncodeToString(id[:]))
	}
	d.line(1, "time      %s", formatTime(p.Time()))
	d.line(1, "duration  %s", formatMillis(p.DurationNano()))
	d.line(1, "samples   %s", d.valueType(p.SampleType()))
	if period := d.period(p); period != "" {
		d.line(1, "period    %s", period)
	}
	if p.OriginalPayloadFormat() != "" || p.OriginalPayload().Len() > 0 {
		d.line(1, "payload   %s %d bytes", quoteName(p.OriginalPayloadFormat()), p.OriginalPayload().Len())
	}
	if d.compare && p.OriginalPayload().Len() > 0 {
		d.line(1, "payload   sha256 %x", sha256.Sum256(p.OriginalPayload().AsRaw()))
	}
	d.dropped(p.DroppedAttributesCount())
	d.attributeLines(1, p.AttributeIndices())
	d.mappingLines(p)
	d.samples(p)
}

func (d *dumper) samples(p pprofile.Profile) {
	if !d.compare {
		for _, s := range p.Samples().All() {
			d.sample(p, s)
		}
		return
	}
	texts := make([]string, 0, p.Samples().Len())
	one := dumper{dict: d.dict, view: d.view, compare: true, mappings: d.mappings}
	for _, s := range p.Samples().All() {
		one.out.Reset()
		one.sample(p, s)
		texts = append(texts, one.out.String())
	}
	slices.Sort(texts)
	for _, text := range texts {
		d.out.WriteString(text)
	}
}

func (d *dumper) valueType(t pprofile.ValueType) string {
	return d.text(t.TypeStrindex()) + "/" + d.text(t.UnitStrindex())
}

// period prints nanoseconds as milliseconds and any other unit unchanged.
func (d *dumper) period(p pprofile.Profile) string {
	t := p.PeriodType()
	_, unit, _ := d.view.ValueType(t)
	switch {
	case t.TypeStrindex() == 0 && t.UnitStrindex() == 0 && p.Period() == 0:
		return ""
	case p.Period() > 0 && unit == "nanoseconds":
		return d.valueType(t) + " every " + formatMillis(uint64(p.Period()))
	default:
		return fmt.Sprintf("%s every %d", d.valueType(t), p.Period())
	}
}

func (d *dumper) sample(p pprofile.Profile, s pprofile.Sample) {
	d.line(1, "%s", strings.TrimRight("sample "+d.attributeWords(s.AttributeIndices()), " "))
	d.link(s.LinkIndex())
	d.timestamps(p.Time(), s.TimestampsUnixNano())
	if n := s.Values().Len(); n > 0 {
		words := make([]string, n)
		for i, v := range s.Values().All() {
			words[i] = fmt.Sprint(v)
		}
		d.line(2, "%s", plural(n, "value"))
		d.wrapped(3, words)
	}
	d.stack(dictionary.StackIndex(s.StackIndex()))
}

func (d *dumper) link(i int32) {
	trace, span, ok := d.view.Link(dictionary.LinkIndex(i))
	switch {
	case !ok:
		d.line(2, "link !link %d", i)
	case i != 0:
		d.line(2, "link trace %s span %s", hex.EncodeToString(trace[:]), hex.EncodeToString(span[:]))
	}
}

func (d *dumper) timestamps(start pcommon.Timestamp, list pcommon.UInt64Slice) {
	if list.Len() == 0 {
		return
	}
	words := make([]string, list.Len())
	for i, t := range list.All() {
		if t >= uint64(start) {
			words[i] = "+" + formatMillis(t-uint64(start))
		} else {
			words[i] = "-" + formatMillis(uint64(start)-t)
		}
	}
	d.line(2, "%s", plural(len(words), "timestamp"))
	d.wrapped(3, words)
}

func (d *dumper) stack(i dictionary.StackIndex) {
	if i == 0 {
		d.line(2, "idle")
		return
	}
	if !valid(i, d.dict.StackTable().Len()) {
		d.line(2, "stack !stack %d", i)
		return
	}
	indices := d.dict.StackTable().At(int(i)).LocationIndices()
	if indices.Len() == 0 {
		d.line(2, "stack without frames")
		return
	}
	d.line(2, "stack")
	for _, l := range indices.All() {
		d.location(dictionary.LocationIndex(l))
	}
}

// location prints one line per frame. The last line of an inlined location is the real frame and
// has address, mapping and attributes; the lines before it were inlined into the one that follows.
func (d *dumper) location(i dictionary.LocationIndex) {
	if i == 0 {
		d.line(3, "?")
		return
	}
	if !valid(i, d.dict.LocationTable().Len()) {
		d.line(3, "!location %d", i)
		return
	}
	l := d.dict.LocationTable().At(int(i))
	var tail []string
	if l.Address() != 0 {
		tail = append(tail, fmt.Sprintf("%#x", l.Address()))
	}
	if m := l.MappingIndex(); m != 0 {
		tail = append(tail, "in "+d.mappings[dictionary.MappingIndex(m)])
	}
	if words := d.attributeWords(l.AttributeIndices()); words != "" {
		tail = append(tail, "{"+words+"}")
	}

	lines := l.Lines()
	for j := range lines.Len() - 1 {
		d.line(3, "%s inlined", d.frame(lines.At(j)))
	}
	frame := "?"
	if n := lines.Len(); n > 0 {
		frame = d.frame(lines.At(n - 1))
	}
	d.line(3, "%s", strings.Join(append([]string{frame}, tail...), " "))
}

// frame returns "name file:line:column" and the less common fields after it.
func (d *dumper) frame(line pprofile.Line) string {
	i := line.FunctionIndex()
	if i != 0 && !valid(i, d.dict.FunctionTable().Len()) {
		return fmt.Sprintf("!function %d%s", i, position("", line))
	}
	f := pprofile.NewFunction()
	if i != 0 {
		f = d.dict.FunctionTable().At(int(i))
	}
	name, file := "?", ""
	if f.NameStrindex() != 0 {
		name = d.text(f.NameStrindex())
	}
	if f.FilenameStrindex() != 0 {
		file = d.text(f.FilenameStrindex())
	}
	s := name + position(file, line)
	if f.SystemNameStrindex() != 0 {
		s += " system=" + d.text(f.SystemNameStrindex())
	}
	if f.StartLine() != 0 {
		s += fmt.Sprintf(" start=%d", f.StartLine())
	}
	return s
}

// position returns " file", " file:12" or " file:12:5"; the file is "?" if there is a line without
// one. A column without a line shows line 0.
func position(file string, line pprofile.Line) string {
	if file == "" {
		if line.Line() == 0 && line.Column() == 0 {
			return ""
		}
		file = "?"
	}
	switch {
	case line.Column() != 0:
		return fmt.Sprintf(" %s:%d:%d", file, line.Line(), line.Column())
	case line.Line() != 0:
		return fmt.Sprintf(" %s:%d", file, line.Line())
	default:
		return " " + file
	}
}

// attributeWords returns attributes in one line, by key.
func (d *dumper) attributeWords(list pcommon.Int32Slice) string {
	words := make([]string, 0, list.Len())
	for _, a := range d.sortedAttributes(list) {
		words = append(words, a.key+"="+a.value)
	}
	return strings.Join(words, " ")
}

func (d *dumper) attributeLines(indent int, list pcommon.Int32Slice) {
	for _, a := range d.sortedAttributes(list) {
		if a.parts == nil {
			d.line(indent, "%s = %s", a.key, a.value)
			continue
		}
		d.line(indent, "%s", a.key)
		for _, part := range a.parts {
			d.line(indent+1, "%s", part)
		}
	}
}

type printedAttribute struct {
	key, value string
	parts      []string // of a value with structure
}

func (d *dumper) sortedAttributes(list pcommon.Int32Slice) []printedAttribute {
	printed := make([]printedAttribute, 0, list.Len())
	for _, i := range list.All() {
		if !valid(i, d.dict.AttributeTable().Len()) {
			printed = append(printed, printedAttribute{key: fmt.Sprintf("!attribute %d", i), value: "?"})
			continue
		}
		e := d.dict.AttributeTable().At(int(i))
		value := formatValue(e.Value())
		if e.UnitStrindex() != 0 {
			value += "[" + d.text(e.UnitStrindex()) + "]"
		}
		printed = append(printed, printedAttribute{d.text(e.KeyStrindex()), value, formatParts(e.Value())})
	}
	slices.SortFunc(printed, func(a, b printedAttribute) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.value, b.value))
	})
	return printed
}

// text prints a string of the table as a name.
func (d *dumper) text(i int32) string {
	s, ok := d.view.String(dictionary.StringIndex(i))
	if !ok {
		return fmt.Sprintf("!string %d", i)
	}
	return quoteName(s)
}

// wrapped prints words in lines of at most wrapColumn characters.
func (d *dumper) wrapped(indent int, words []string) {
	const wrapColumn = 110
	line := ""
	for _, w := range words {
		if line != "" && 2*indent+len(line)+1+len(w) > wrapColumn {
			d.line(indent, "%s", line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	d.line(indent, "%s", line)
}

// valid reports whether index i is inside a table of n entries.
func valid[I ~int32](i I, n int) bool { return i >= 0 && int(i) < n }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func formatTime(t pcommon.Timestamp) string {
	return time.Unix(int64(t/1e9), int64(t%1e9)).UTC().Format(time.RFC3339Nano)
}

// formatMillis prints nanoseconds as milliseconds without rounding.
func formatMillis(ns uint64) string { return fmt.Sprintf("%d.%06dms", ns/1e6, ns%1e6) }
