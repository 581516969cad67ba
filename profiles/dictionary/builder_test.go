// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/internal/canonical"
)

func newBuilder(t testing.TB) (*Builder, pprofile.ProfilesDictionary) {
	t.Helper()
	d := pprofile.NewProfiles().Dictionary()
	return NewBuilder(d), d
}

func TestEveryTableStartsWithItsZeroEntry(t *testing.T) {
	b, d := newBuilder(t)
	b.Finish()
	for name, n := range map[string]int{
		"mapping": d.MappingTable().Len(), "location": d.LocationTable().Len(), "function": d.FunctionTable().Len(),
		"link": d.LinkTable().Len(), "string": d.StringTable().Len(), "attribute": d.AttributeTable().Len(),
		"stack": d.StackTable().Len(),
	} {
		if n != 1 {
			t.Errorf("%s table: %d entries, want 1", name, n)
		}
	}
	if s := d.StringTable().At(0); s != "" {
		t.Errorf("string 0 is %q", s)
	}
}

func TestZeroValuesAreEntryZero(t *testing.T) {
	b, _ := newBuilder(t)
	if b.String("") != 0 || b.Function(Function{}) != 0 || b.Mapping(Mapping{}) != 0 ||
		b.Location(Location{}) != 0 || b.Stack(nil) != 0 || b.Attribute("", Value{}, "") != 0 ||
		b.Link(pcommon.TraceID{}, pcommon.SpanID{}) != 0 {
		t.Error("a zero value got an entry of its own")
	}
	if b.Link(pcommon.TraceID{1}, pcommon.SpanID{}) != 0 || b.Link(pcommon.TraceID{}, pcommon.SpanID{1}) != 0 {
		t.Error("half a link got an entry")
	}
}

func TestEqualEntriesShareAPositionAndOthersDoNot(t *testing.T) {
	b, d := newBuilder(t)
	a1, a2 := b.AttrString("k", "1"), b.AttrString("k", "2")
	f1, f2 := b.Function(Function{Name: b.String("f")}), b.Function(Function{SystemName: b.String("f")})
	tests := map[string][]func() int32{
		"string": {
			func() int32 { return int32(b.String("a")) },
			func() int32 { return int32(b.String("A")) },
		},
		"attribute": {
			func() int32 { return int32(b.AttrString("n", "1")) },
			func() int32 { return int32(b.AttrInt("n", 1)) },
			func() int32 { return int32(b.Attribute("n", DoubleValue(1), "")) },
			func() int32 { return int32(b.AttrBool("n", true)) },
			func() int32 { return int32(b.AttrBool("n", false)) },
			func() int32 { return int32(b.AttrInt("n", 0)) },
			func() int32 { return int32(b.Attribute("n", IntValue(1), "ms")) },
			func() int32 { return int32(b.Attribute("n", Value{}, "")) },
			func() int32 { return int32(b.AttrString("n", "")) },
			func() int32 { return int32(b.AttrString("m", "1")) },
			func() int32 { return int32(b.Attribute("n", DoubleValue(math.NaN()), "")) },
			func() int32 { return int32(b.Attribute("n", AnyValue(bytesValue("1")), "")) },
			func() int32 { return int32(b.Attribute("n", AnyValue(sliceValue("1")), "")) },
			func() int32 { return int32(b.Attribute("n", AnyValue(sliceValue("1", "")), "")) },
			func() int32 { return int32(b.Attribute("n", AnyValue(mapValue("1", "2")), "")) },
		},
		"function": {
			func() int32 { return int32(b.Function(Function{Name: b.String("g")})) },
			func() int32 { return int32(b.Function(Function{SystemName: b.String("g")})) },
			func() int32 { return int32(b.Function(Function{Filename: b.String("g")})) },
			func() int32 { return int32(b.Function(Function{Name: b.String("g"), StartLine: 1})) },
		},
		"mapping": {
			func() int32 { return int32(b.Mapping(Mapping{Start: 1, Limit: 2})) },
			func() int32 { return int32(b.Mapping(Mapping{Start: 1, Limit: 3})) },
			func() int32 { return int32(b.Mapping(Mapping{Start: 1, Limit: 2, FileOffset: 1})) },
			func() int32 { return int32(b.Mapping(Mapping{Start: 1, Limit: 2, Filename: b.String("f")})) },
			func() int32 { return int32(b.Mapping(Mapping{Start: 1, Limit: 2, Attributes: []AttributeIndex{a1}})) },
			func() int32 {
				return int32(b.Mapping(Mapping{Start: 1, Limit: 2, Attributes: []AttributeIndex{a2, a1}}))
			},
		},
		"location": {
			func() int32 { return int32(b.Location(Location{Address: 1})) },
			func() int32 { return int32(b.Location(Location{Address: 1, Mapping: 1})) },
			func() int32 { return int32(b.Location(Location{Lines: []Line{{Function: f1}}})) },
			func() int32 { return int32(b.Location(Location{Lines: []Line{{Function: f2}}})) },
			func() int32 { return int32(b.Location(Location{Lines: []Line{{Function: f1, Line: 1}}})) },
			func() int32 { return int32(b.Location(Location{Lines: []Line{{Function: f1, Column: 1}}})) },
			func() int32 { return int32(b.Location(Location{Lines: []Line{{Function: f1}, {Function: f2}}})) },
			func() int32 { return int32(b.Location(Location{Lines: []Line{{Function: f2}, {Function: f1}}})) },
			func() int32 {
				return int32(b.Location(Location{Address: 1, Attributes: []AttributeIndex{a2, a1, 0, a2}}))
			},
			func() int32 { return int32(b.Location(Location{Address: 1, Attributes: []AttributeIndex{a1}})) },
		},
		"link": {
			func() int32 { return int32(b.Link(pcommon.TraceID{1}, pcommon.SpanID{1})) },
			func() int32 { return int32(b.Link(pcommon.TraceID{1}, pcommon.SpanID{2})) },
			func() int32 { return int32(b.Link(pcommon.TraceID{15: 1}, pcommon.SpanID{1})) },
		},
		"stack": {
			func() int32 { return int32(b.Stack([]LocationIndex{1})) },
			func() int32 { return int32(b.Stack([]LocationIndex{1, 2})) },
			func() int32 { return int32(b.Stack([]LocationIndex{2, 1})) },
			func() int32 { return int32(b.Stack([]LocationIndex{0})) },
		},
	}
	for table, forms := range tests {
		t.Run(table, func(t *testing.T) {
			seen := map[int32]int{0: -1}
			for i, form := range forms {
				pos := form()
				if was, ok := seen[pos]; ok {
					t.Errorf("forms %d and %d share position %d", was, i, pos)
				}
				seen[pos] = i
			}
			for i, form := range forms {
				if seen[form()] != i {
					t.Errorf("form %d moved", i)
				}
			}
		})
	}

	if x, y := b.Location(Location{Address: 9, Attributes: []AttributeIndex{a1, a2}}),
		b.Location(Location{Address: 9, Attributes: []AttributeIndex{a2, a1}}); x != y {
		t.Error("the order of location attributes matters")
	}
	if x, y := b.Attribute("o", AnyValue(mapValue("a", "1", "b", "2")), ""),
		b.Attribute("o", AnyValue(mapValue("b", "2", "a", "1")), ""); x != y {
		t.Error("the order of map keys matters")
	}
	if b.AttrString("n", "1") != b.Attribute("n", AnyValue(pcommon.NewValueStr("1")), "") {
		t.Error("AnyValue of a string differs from StringValue")
	}
	b.Finish()
	if d.StringTable().Len() != len(b.strings) {
		t.Error("Finish did not write every string")
	}
}

func TestNothingHandedInIsKept(t *testing.T) {
	b, d := newBuilder(t)
	text := []byte("function")
	i := b.String(viewOf(text))
	a := b.AttrString("k", viewOf(text))
	stack := []LocationIndex{1, 2, 3}
	s := b.Stack(stack)
	copy(text, "xxxxxxxx")
	stack[0] = 9
	b.Finish()
	if got := d.StringTable().At(int(i)); got != "function" {
		t.Errorf("string is %q", got)
	}
	if got := d.AttributeTable().At(int(a)).Value().Str(); got != "function" {
		t.Errorf("attribute value is %q", got)
	}
	if got := d.StackTable().At(int(s)).LocationIndices().At(0); got != 1 {
		t.Errorf("stack starts with %d", got)
	}
}

func TestTextIsUTF8(t *testing.T) {
	b, d := newBuilder(t)
	i, j := b.String("a\xff\xfeb"), b.String("a\uFFFDb")
	if i != j {
		t.Error("the repaired string is not found again")
	}
	a := b.AttrString("k", "\xff")
	b.Finish()
	if got := d.AttributeTable().At(int(a)).Value().Str(); got != "\uFFFD" {
		t.Errorf("attribute value is %q", got)
	}
}

// Many entries make every table grow several times and every string piece overflow; each entry must
// still be found.
func TestManyEntries(t *testing.T) {
	for _, hints := range []Hints{{}, {Strings: 6000, Locations: 5000, Stacks: 5000, Functions: 5000}} {
		b, d := newBuilder(t)
		b.Grow(hints)
		const n = 5000
		name := func(i int) string {
			return strings.Repeat("n", i%300) + string(rune('a'+i%26)) + string(rune(0x4e00+i))
		}
		for range 2 {
			for i := range n {
				f := b.Function(Function{Name: b.String(name(i)), StartLine: int64(i)})
				l := b.Location(Location{Lines: []Line{{Function: f, Line: int64(i)}}})
				s := b.Stack([]LocationIndex{l, 1, l})
				if int(f) != i+1 || int(l) != i+1 || int(s) != i+1 {
					t.Fatalf("entry %d: function %d, location %d, stack %d", i, f, l, s)
				}
			}
		}
		b.Finish()
		for i := range n {
			if got := d.StringTable().At(i + 1); got != name(i) {
				t.Fatalf("string %d is %q, want %q", i, got, name(i))
			}
		}
		b.Release()
	}
}

func TestResetForgetsEverything(t *testing.T) {
	b, first := newBuilder(t)
	b.String("old")
	b.AttrString("k", "old")
	b.Stack([]LocationIndex{1})
	b.Finish()
	second := pprofile.NewProfiles().Dictionary()
	b.Reset(second)
	if got := b.String("new"); got != 1 {
		t.Errorf("first string after Reset at %d", got)
	}
	if got := b.Stack([]LocationIndex{1}); got != 1 || second.StackTable().Len() != 2 {
		t.Errorf("first stack after Reset at %d of %d", got, second.StackTable().Len())
	}
	b.Finish()
	if first.StringTable().Len() != 3 || first.StringTable().At(1) != "old" {
		t.Error("Reset changed the dictionary written before")
	}
	for _, s := range b.strings[len(b.strings):cap(b.strings)] {
		if s != "" {
			t.Errorf("the scratch still holds %q", s)
		}
	}
}

func TestNonEmptyDictionaryPanics(t *testing.T) {
	d := pprofile.NewProfiles().Dictionary()
	d.StackTable().AppendEmpty()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewBuilder(d)
}

func TestHitsDoNotAllocate(t *testing.T) {
	b, _ := newBuilder(t)
	text := []byte("some.function.name")
	attrs := []AttributeIndex{b.AttrString("z", "1"), b.AttrString("a", "2")}
	attrs[0], attrs[1] = attrs[1], attrs[0] // unsorted on purpose
	lines := []Line{{Function: 1, Line: 1}, {Function: 2}}
	stack := make([]LocationIndex, 200)
	run := func() {
		b.String(viewOf(text))
		b.AttrInt("thread.id", 7)
		b.AttrString("thread.name", "main")
		b.Function(Function{Name: 1, Filename: 2})
		b.Mapping(Mapping{Start: 1, Limit: 2, Attributes: attrs})
		b.Location(Location{Address: 1, Lines: lines, Attributes: attrs})
		b.Link(pcommon.TraceID{1}, pcommon.SpanID{1})
		b.Stack(stack)
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A value nested too deeply to compare is stored, never merged with another.
func TestTooDeepValuesStayApart(t *testing.T) {
	b, d := newBuilder(t)
	deep := func() pcommon.Value {
		v := pcommon.NewValueSlice()
		for at, i := v, 0; i < 2*canonical.MaxDepth; i++ {
			at = at.Slice().AppendEmpty()
			at.SetEmptySlice()
		}
		return v
	}
	x, y := b.Attribute("k", AnyValue(deep()), ""), b.Attribute("k", AnyValue(deep()), "")
	if x == y || d.AttributeTable().Len() != 3 {
		t.Errorf("positions %d and %d of %d", x, y, d.AttributeTable().Len())
	}
	if z := b.AttrString("k", "v"); int(z) != 3 {
		t.Errorf("next attribute at %d", z)
	}
}

func bytesValue(s string) pcommon.Value {
	v := pcommon.NewValueBytes()
	v.Bytes().FromRaw([]byte(s))
	return v
}

func sliceValue(items ...string) pcommon.Value {
	v := pcommon.NewValueSlice()
	for _, s := range items {
		v.Slice().AppendEmpty().SetStr(s)
	}
	return v
}

func mapValue(pairs ...string) pcommon.Value {
	v := pcommon.NewValueMap()
	for i := 0; i < len(pairs); i += 2 {
		v.Map().PutStr(pairs[i], pairs[i+1])
	}
	return v
}

// viewOf gives a string in memory that the test overwrites later, as a scanner over a pooled buffer
// does.
func viewOf(b []byte) string { return unsafe.String(&b[0], len(b)) }

// TestValuesAlone: bytes, maps and slices are compared even though the first of a key is encoded
// only when a second one arrives.
func TestValuesAlone(t *testing.T) {
	b, d := newBuilder(t)
	deep := pcommon.NewValueSlice()
	for at, i := deep.Slice(), 0; i < 2*canonical.MaxDepth; i++ {
		at = at.AppendEmpty().SetEmptySlice()
	}
	first := b.Attribute("key", AnyValue(mapValue("1", "2")), "")
	assert.NotEqual(t, first, b.Attribute("other", AnyValue(mapValue("1", "2")), ""))
	assert.Equal(t, first, b.Attribute("key", AnyValue(mapValue("1", "2")), ""))
	assert.Equal(t, first, b.Attribute("key", MovedValue(mapValue("1", "2")), ""))
	second := b.Attribute("key", MovedValue(mapValue("1", "3")), "")
	assert.NotEqual(t, first, second)
	assert.Equal(t, second, b.Attribute("key", AnyValue(mapValue("1", "3")), ""))
	assert.NotEqual(t, first, b.Attribute("key", AnyValue(sliceValue("1", "2")), ""))
	tooDeep := b.Attribute("deep", AnyValue(deep), "")
	assert.NotEqual(t, tooDeep, b.Attribute("deep", AnyValue(deep), ""), "values that are too deep are not compared")
	assert.Equal(t, mapValue("1", "3").AsRaw(), d.AttributeTable().At(int(second)).Value().AsRaw())
}
