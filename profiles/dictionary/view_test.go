// SPDX-License-Identifier: Apache-2.0

package dictionary_test

import (
	"slices"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

func TestViewReadsWhatTheBuilderWrote(t *testing.T) {
	p := dictionarytest.ValidProfiles()
	v := dictionary.NewView(p.Dictionary())
	sample := dictionarytest.FirstSample(p)

	stack, ok := v.Stack(dictionary.StackIndex(sample.StackIndex()), nil)
	if !ok || len(stack) != 1 {
		t.Fatalf("stack %v, %v", stack, ok)
	}
	var l dictionary.Location
	if !v.Location(stack[0], &l) || len(l.Lines) != 2 || l.Lines[0].Line != 12 || l.Lines[0].Column != 5 {
		t.Fatalf("location %+v", l)
	}
	f, ok := v.Function(l.Lines[0].Function)
	if !ok || v.Text(f.Name) != "leaf" || v.Text(f.Filename) != "leaf.go" || f.StartLine != 3 {
		t.Errorf("function %+v", f)
	}
	if a, ok := v.Attribute(l.Attributes[0]); !ok || a.Key != "profile.frame.type" || a.Value.Str() != "go" {
		t.Errorf("attribute %+v", a)
	}
	trace, span, ok := v.Link(dictionary.LinkIndex(sample.LinkIndex()))
	if !ok || trace != (pcommon.TraceID{1}) || span != (pcommon.SpanID{2}) {
		t.Errorf("link %s %s", trace, span)
	}
	if id, ok := v.Get(sample.AttributeIndices(), "thread.id"); !ok || id.Int() != 7 {
		t.Error("thread.id not found")
	}
	if _, ok := v.Get(sample.AttributeIndices(), "thread"); ok {
		t.Error("found an attribute that is not there")
	}
	if list, ok := v.Attributes(sample.AttributeIndices(), nil); !ok || len(list) != 2 {
		t.Errorf("attributes %v", list)
	}
	if typ, unit, ok := v.ValueType(dictionarytest.FirstProfile(p).PeriodType()); !ok || typ != "wall" || unit != "nanoseconds" {
		t.Errorf("period type %s/%s", typ, unit)
	}

	stack, _ = v.Stack(dictionary.StackIndex(dictionarytest.FirstProfile(p).Samples().At(1).StackIndex()), stack[:0])
	var m dictionary.Mapping
	if !v.Location(stack[0], &l) || len(l.Lines) != 0 || l.Address != 0x1234 || !v.Mapping(l.Mapping, &m) {
		t.Fatalf("location %+v", l)
	}
	if m.Start != 0x1000 || m.Limit != 0x2000 || v.Text(m.Filename) != "/lib/libshop.so" || len(m.Attributes) != 1 {
		t.Errorf("mapping %+v", m)
	}
}

// Nothing of a message that lacks its zero entries, or all entries, is there to be read; "none"
// remains readable.
func TestViewOfAnEmptyDictionary(t *testing.T) {
	v := dictionary.NewView(pprofile.NewProfiles().Dictionary())
	readAll(t, v, 0, true)
	for _, i := range []int32{1, -1, 1 << 30, -1 << 31} {
		readAll(t, v, i, false)
	}
}

// Real data at position 0, as a merge into an unseeded message leaves it, is not given to those who
// say "none".
func TestIndexZeroIsNoneWhateverIsThere(t *testing.T) {
	d := pprofile.NewProfiles().Dictionary()
	d.StringTable().Append("real")
	d.StackTable().AppendEmpty().LocationIndices().Append(5)
	d.LocationTable().AppendEmpty().SetAddress(1)
	d.LinkTable().AppendEmpty().SetSpanID(pcommon.SpanID{1})
	d.FunctionTable().AppendEmpty().SetStartLine(1)
	d.MappingTable().AppendEmpty().SetMemoryLimit(1)
	d.AttributeTable().AppendEmpty().Value().SetStr("real")
	readAll(t, dictionary.NewView(d), 0, true)
}

// readAll reads one index from every table and expects nothing there.
func readAll(t *testing.T, v dictionary.View, i int32, wantOK bool) {
	t.Helper()
	var l dictionary.Location
	var m dictionary.Mapping
	s, ok1 := v.String(dictionary.StringIndex(i))
	a, ok2 := v.Attribute(dictionary.AttributeIndex(i))
	f, ok3 := v.Function(dictionary.FunctionIndex(i))
	ok4 := v.Mapping(dictionary.MappingIndex(i), &m)
	ok5 := v.Location(dictionary.LocationIndex(i), &l)
	trace, span, ok6 := v.Link(dictionary.LinkIndex(i))
	stack, ok7 := v.Stack(dictionary.StackIndex(i), nil)
	if s != "" || a.Key != "" || a.Value.Type() != pcommon.ValueTypeEmpty || f != (dictionary.Function{}) || m.Limit != 0 ||
		l.Address != 0 || len(stack) != 0 || !trace.IsEmpty() || !span.IsEmpty() {
		t.Errorf("index %d reads as something", i)
	}
	for table, ok := range []bool{ok1, ok2, ok3, ok4, ok5, ok6, ok7} {
		if ok != wantOK {
			t.Errorf("index %d, table %d: ok is %v", i, table, ok)
		}
	}
}

func TestBrokenPartsReadAsNone(t *testing.T) {
	p := dictionarytest.ValidProfiles()
	d := p.Dictionary()
	v := dictionary.NewView(d)
	var l dictionary.Location
	d.LocationTable().At(1).SetMappingIndex(9)
	d.LocationTable().At(1).Lines().At(1).SetFunctionIndex(-3)
	d.LocationTable().At(1).AttributeIndices().SetAt(0, 99)
	if v.Location(1, &l) {
		t.Error("broken location is ok")
	}
	if l.Mapping != 0 || len(l.Lines) != 2 || l.Lines[0].Function == 0 || l.Lines[1].Function != 0 || l.Lines[1].Line != 40 ||
		len(l.Attributes) != 2 || l.Attributes[0] != 0 {
		t.Errorf("%+v", l)
	}
	d.StackTable().At(1).LocationIndices().Append(50, 2)
	if stack, ok := v.Stack(1, nil); ok || !slices.Equal(stack, []dictionary.LocationIndex{1, 0, 2}) {
		t.Errorf("stack %v", stack)
	}
	sample := dictionarytest.FirstSample(p)
	sample.AttributeIndices().Append(0, 99)
	if list, ok := v.Attributes(sample.AttributeIndices(), nil); ok || len(list) != 2 {
		t.Errorf("%d attributes, %v", len(list), ok)
	}
	if _, ok := v.Get(sample.AttributeIndices(), ""); ok {
		t.Error("attribute without a key")
	}
	d.LinkTable().At(1).SetTraceID(pcommon.TraceID{})
	if _, span, ok := v.Link(1); ok || !span.IsEmpty() {
		t.Error("half a link is ok")
	}
}
