// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

const buildID = "5f3c1ab0-8d4a-4e65-9b0c-73656e747279"

// method is a frame of Android before symbolication.
type method struct {
	class, name, signature string
	line                   int64
}

// androidProfile returns a message with one profile per mapping, each with one stack per frame.
func androidProfile(uuids []string, frames ...method) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	for _, id := range uuids {
		profile := p.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
		dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
		profile.SetTime(1000)
		profile.SetDurationNano(1000)
		list := pcommon.NewValueSlice()
		list.Slice().AppendEmpty().SetEmptyMap().PutStr("type", "elf")
		if id != "" {
			image := list.Slice().AppendEmpty().SetEmptyMap()
			image.PutStr("type", "proguard")
			image.PutStr("uuid", id)
		}
		dictionary.SetAttributes(profile.AttributeIndices(), b.Attribute("sentry.debug_meta.images", dictionary.AnyValue(list), ""))
		for i, f := range frames {
			sample := profile.Samples().AppendEmpty()
			sample.TimestampsUnixNano().Append(uint64(1000 + i))
			attributes := []dictionary.AttributeIndex{b.AttrString("profile.frame.type", "jvm")}
			if f.class != "" {
				attributes = append(attributes, b.AttrString("sentry.frame.module", f.class))
			}
			if f.signature != "" {
				attributes = append(attributes, b.AttrString("sentry.frame.signature", f.signature))
			}
			sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{
				Lines:      []dictionary.Line{{Function: b.Function(dictionary.Function{Name: b.String(f.name), Filename: b.String("SourceFile")}), Line: f.line}},
				Attributes: attributes,
			})})))
		}
	}
	b.Finish()
	return p
}

func TestObfuscatedMethods(t *testing.T) {
	p := androidProfile([]string{buildID},
		method{"a.b", "a", "", 6}, method{"a.b", "b", "(La/c;I)V", 0}, method{"a.b", "d", "", 0}, method{"a.b", "unlisted", "", 3},
		method{"a.b", "f", "", 2}, method{"java.lang.Thread", "run", "()V", 0}, method{"", "unknown", "", 0})
	counts, asked := symbolicated(t, p)
	assert.Equal(t, Counts{symbols.OK: 4, symbols.Ambiguous: 1, symbols.NoSymbol: 1}, counts)
	assert.Equal(t, []ScriptID{{DebugID: buildID}}, asked, "the mapping is looked up once")
	text := dictionarytest.Dump(p)
	t.Log(text)
	for _, want := range []string{
		// Inlined functions of other classes have their class; that of the location is an
		// attribute.
		`com.example.shop.Item.tax Items.kt:30`, `com.example.shop.Item.price Items.kt:10`, `total Cart.kt:22 system=a`,
		`add Cart.kt system=b`, `unlisted Cart.kt:3`, `d Cart.kt`, `moved Legacy.kt:70 system=f`,
		`sentry.frame.module="com.example.shop.Cart"`, `sentry.frame.module="com.example.shop.Legacy"`, `sentry.frame.module="java.lang.Thread"`,
		`sentry.frame.raw_module="a.b"`, `sentry.frame.raw_function="a"`, `sentry.frame.raw_file="SourceFile"`, `sentry.frame.raw_line=6`,
		`symbolication.status="ambiguous"`,
	} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, `sentry.frame.module="a.b"`)
	assert.NotContains(t, text, `symbolication.status="no_symbol"`, "frames of the platform stay as they are")
	symbolicated(t, p)
	assert.Equal(t, text, dictionarytest.Dump(p), "symbolicated frames are left alone")
}

// Frames without a mapping stay as they are. Those of two builds have names in neither.
func TestMethodsWithoutMapping(t *testing.T) {
	for _, c := range []struct {
		uuids []string
		want  Counts
	}{
		{[]string{""}, Counts{}},
		{[]string{"5f3c1ab0-0000-4e65-9b0c-73656e747279"}, Counts{symbols.MissingFile: 1}},
		{[]string{buildID, "5f3c1ab0-0000-4e65-9b0c-73656e747279"}, Counts{symbols.Ambiguous: 1}},
		{[]string{buildID, ""}, Counts{symbols.Ambiguous: 1}},
		{[]string{"", buildID}, Counts{symbols.Ambiguous: 1}},
	} {
		p := androidProfile(c.uuids, method{"a.b", "a", "", 6})
		before := pprofile.NewProfiles()
		p.CopyTo(before)
		counts, _ := symbolicated(t, p)
		assert.Equal(t, c.want, counts, c.uuids)
		assert.Equal(t, before, p, c.uuids)
	}
}
