// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// cart has two functions in a row, so that the return address of a call at the end of the first is
// in the second, and an inlined one.
const cart = `MODULE mac arm64 4FBF22D9B8D24BA2A7F8C1E2D3A4B5C60 shop
FILE 0 cart.cc
FILE 1 item.h
INLINE_ORIGIN 0 Item::price
FUNC 1000 10 0 Cart::fail
1000 10 20 0
FUNC 1010 10 0 Cart::total
INLINE 0 30 0 0 1018 8
1010 8 30 0
1018 8 5 1
`

const cartID = "4fbf22d9-b8d2-4ba2-a7f8-c1e2d3a4b5c6"

// Native returns the table of cart by its debug ID or its build ID.
func (s shop) Native(id NativeID) (*native.Table, symbols.Status) {
	if id.DebugID != cartID && id.BuildID != "cafe" {
		return nil, symbols.MissingFile
	}
	*s.asked = append(*s.asked, ScriptID{DebugID: id.DebugID + id.BuildID})
	var index bytes.Buffer
	_, err := native.Index(symbols.NewWork(s.t.Context(), 0, native.Limits, nil), &index, strings.NewReader(cart), native.Object{Format: native.Breakpad, Size: int64(len(cart))})
	require.NoError(s.t, err)
	table, err := native.Open(bytes.NewReader(index.Bytes()), int64(index.Len()))
	require.NoError(s.t, err)
	return table, symbols.OK
}

// nativeProfile returns a message with a stack of addresses in one mapping per list. A name
// precedes an address that the SDK named.
func nativeProfile(platform, scope string, mapping dictionary.Mapping, id map[string]string, stacks ...[]any) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("sentry.platform", platform)
	scoped := resource.ScopeProfiles().AppendEmpty()
	scoped.Scope().SetName(scope)
	profile := scoped.Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	profile.SetTime(1000)
	profile.SetDurationNano(1000)
	for _, key := range []string{"process.executable.build_id.go", "process.executable.build_id.gnu", "sentry.debug_id", "sentry.image.type"} {
		if id[key] != "" {
			mapping.Attributes = append(mapping.Attributes, b.AttrString(key, id[key]))
		}
	}
	image := b.Mapping(mapping)
	for i, stack := range stacks {
		var locations []dictionary.LocationIndex
		name := ""
		for _, frame := range stack {
			if text, ok := frame.(string); ok {
				name = text
				continue
			}
			l := dictionary.Location{Address: uint64(frame.(int)), Mapping: image, Attributes: []dictionary.AttributeIndex{b.AttrString("profile.frame.type", "native")}}
			if name != "" {
				l.Lines = []dictionary.Line{{Function: b.Function(dictionary.Function{Name: b.String(name)})}}
			}
			locations, name = append(locations, b.Location(l)), ""
		}
		sample := profile.Samples().AppendEmpty()
		sample.TimestampsUnixNano().Append(uint64(1000 + i))
		sample.SetStackIndex(int32(b.Stack(locations)))
	}
	b.Finish()
	return p
}

// plain returns the dump of a profile without quotes.
func plain(p pprofile.Profiles) string { return strings.ReplaceAll(dictionarytest.Dump(p), `"`, "") }

var apple = map[string]string{"process.executable.build_id.gnu": cartID, "sentry.debug_id": cartID, "sentry.image.type": "macho"}

// The innermost address is that of an instruction, the others follow a call.
func TestLeafAndCaller(t *testing.T) {
	p := nativeProfile("cocoa", "", dictionary.Mapping{Start: 0x100000, Limit: 0x110000}, apple,
		[]any{0x101010, 0x101020}, []any{0x101000, 0x101010})
	counts, asked := symbolicated(t, p)
	assert.Equal(t, Counts{symbols.OK: 3}, counts)
	assert.Len(t, asked, 1, "the image is looked up once")
	text := plain(p)
	for _, want := range []string{
		"stack\n      Cart::total cart.cc:30 0x101010", // leaf
		"stack\n      Cart::fail cart.cc:20 0x101000",
		"Cart::fail cart.cc:20 0x101010", // the call before the return address
		"Item::price item.h:5",
	} {
		assert.Contains(t, text, want)
	}
	again, _ := symbolicated(t, p)
	assert.Empty(t, again)
	assert.Equal(t, text, plain(p), "symbolicated frames are left alone")
}

// Forms of addresses: an image of Sentry's SDKs, a segment of a file, and profilers that have
// subtracted one.
func TestAddresses(t *testing.T) {
	elf := map[string]string{"process.executable.build_id.gnu": "cafe"}
	for name, c := range map[string]struct {
		platform, scope string
		mapping         dictionary.Mapping
		id              map[string]string
		address         int
		want            string // of the caller
	}{
		"image":         {"cocoa", "", dictionary.Mapping{Start: 0x100000, Limit: 0x110000}, apple, 0x101010, "Cart::fail"},
		"segment":       {"native", "", dictionary.Mapping{Start: 0x7000, Limit: 0x9000, FileOffset: 0x1000}, elf, 0x7010, "Cart::fail"},
		"Perfetto":      {"android", "", dictionary.Mapping{Start: 0x7000, Limit: 0x9000, FileOffset: 0x1000}, elf, 0x7010, "Cart::total"},
		"eBPF profiler": {"", "go.opentelemetry.io/ebpf-profiler", dictionary.Mapping{Start: 0x1000, Limit: 0x2000, FileOffset: 0x400}, elf, 0x1010, "Cart::total"},
	} {
		t.Run(name, func(t *testing.T) {
			p := nativeProfile(c.platform, c.scope, c.mapping, c.id, []any{c.address + 0x100000, c.address})
			counts, _ := symbolicated(t, p)
			assert.Equal(t, 1, counts[symbols.OK])
			assert.Contains(t, plain(p), c.want+" cart.cc")
		})
	}
}

// Names of Apple's SDK are those of the next exported symbol. Others are right.
func TestNamedAddresses(t *testing.T) {
	for name, want := range map[string]Counts{
		"":           {symbols.OK: 1},
		"<redacted>": {symbols.OK: 1},
		"0x101000":   {symbols.OK: 1},
		"main":       {},
		"0xyz":       {},
	} {
		p := nativeProfile("native", "", dictionary.Mapping{Start: 0x100000, Limit: 0x110000}, map[string]string{"process.executable.build_id.gnu": cartID, "sentry.debug_id": cartID, "sentry.image.type": "elf"}, []any{name, 0x101000})
		counts, _ := symbolicated(t, p)
		assert.Equal(t, want, counts, name)
		p = nativeProfile("cocoa", "", dictionary.Mapping{Start: 0x100000, Limit: 0x110000}, apple, []any{name, 0x101000})
		counts, _ = symbolicated(t, p)
		assert.Equal(t, Counts{symbols.OK: 1}, counts, name)
		if name != "" {
			assert.Contains(t, dictionarytest.Dump(p), `sentry.frame.raw_function="`+name+`"`)
		}
	}
}

// Addresses outside of all functions keep their frames, and those without a file or an ID as well.
func TestUnknownAddresses(t *testing.T) {
	mapping := dictionary.Mapping{Start: 0x100000, Limit: 0x110000}
	for name, c := range map[string]struct {
		id   map[string]string
		want Counts
	}{
		"no ID":    {map[string]string{"process.executable.build_id.go": "x", "sentry.image.type": "macho"}, Counts{}},
		"no file":  {map[string]string{"process.executable.build_id.gnu": "other", "sentry.debug_id": "other", "sentry.image.type": "macho"}, Counts{symbols.MissingFile: 3}},
		"no names": {apple, Counts{symbols.NoSymbol: 3}},
	} {
		p := nativeProfile("cocoa", "", mapping, c.id, []any{0x100500, 0xffff, 0x109999})
		counts, _ := symbolicated(t, p)
		assert.Equal(t, c.want, counts, name)
		assert.Contains(t, dictionarytest.Dump(p), "0x109999")
	}
}
