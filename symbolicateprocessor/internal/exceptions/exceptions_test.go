// SPDX-License-Identifier: Apache-2.0

package exceptions

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/proguard"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/sourcemap"
)

const (
	url     = "https://shop.example/assets/esbuild.js"
	debugID = "3f2b7c1e-8d4a-4e65-9b0c-73656e747279"
	buildID = "5f3c1ab0-8d4a-4e65-9b0c-73656e747279"
)

// shop has the minified application of the source map tests, and the mapping of the ProGuard tests.
type shop struct{ t testing.TB }

func (s shop) Script(id symbolicate.ScriptID) (*sourcemap.File, symbols.Status) {
	if id.DebugID != debugID && id != (symbolicate.ScriptID{URL: url, Release: "1.0"}) {
		return nil, symbols.MissingFile
	}
	text, err := os.ReadFile("../symbols/sourcemap/testdata/app/esbuild.js.map")
	require.NoError(s.t, err)
	work := symbols.NewWork(s.t.Context(), 1<<20, sourcemap.Limits, nil)
	m, err := sourcemap.Read(work, text)
	require.NoError(s.t, err)
	file, err := sourcemap.NewFile(work, m, minified(s.t))
	require.NoError(s.t, err)
	return file, symbols.OK
}

func (s shop) Mapping(id string) (*proguard.Mapping, symbols.Status) {
	if id != buildID {
		return nil, symbols.MissingFile
	}
	file, err := os.Open("../symbols/proguard/testdata/shop.txt")
	require.NoError(s.t, err)
	defer file.Close()
	m, err := proguard.Read(symbols.NewWork(s.t.Context(), 1<<20, proguard.Limits, nil), file)
	require.NoError(s.t, err)
	return m, symbols.OK
}

// cart has two functions in a row: the return address of a call at the end of the first is in the
// second. Item::price is inlined.
const cart = `MODULE Linux x86_64 4FBF22D9B8D24BA2A7F8C1E2D3A4B5C60 shop
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

func (s shop) Native(id symbolicate.NativeID) (*native.Table, symbols.Status) {
	if id.DebugID != cartID {
		return nil, symbols.MissingFile
	}
	var index bytes.Buffer
	_, err := native.Index(symbols.NewWork(context.Background(), 0, native.Limits, nil), &index, strings.NewReader(cart), native.Object{Format: native.Breakpad, Size: int64(len(cart))})
	require.NoError(s.t, err)
	table, err := native.Open(bytes.NewReader(index.Bytes()), int64(index.Len()))
	require.NoError(s.t, err)
	return table, symbols.OK
}

func minified(t testing.TB) string {
	text, err := os.ReadFile("../symbols/sourcemap/testdata/app/esbuild.js")
	require.NoError(t, err)
	return string(text)
}

// column returns the column of a text of the script, from 1.
func column(t testing.TB, text string) int64 {
	i := strings.Index(minified(t), text)
	require.GreaterOrEqual(t, i, 0, text)
	return int64(i) + 1
}

// record returns a message with one exception, and its attributes.
func record(platform string) (plog.Logs, pcommon.Map) {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr("sentry.platform", platform)
	return logs, resource.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Attributes()
}

// putException adds an exception of a Sentry SDK; frames are innermost first, as maps.
func putException(attrs pcommon.Map, kind, module string, frames ...map[string]any) {
	list, ok := attrs.Get("sentry.exceptions")
	if !ok {
		list = attrs.PutEmpty("sentry.exceptions")
		list.SetEmptySlice()
	}
	m := list.Slice().AppendEmpty().SetEmptyMap()
	m.PutStr("type", kind)
	m.PutStr("value", "no stock")
	m.PutStr("module", module)
	to := m.PutEmptyMap("stacktrace").PutEmptySlice("frames")
	for _, f := range frames {
		_ = to.AppendEmpty().SetEmptyMap().FromRaw(f)
	}
}

func putImage(attrs pcommon.Map, kind, file, id string) {
	image := attrs.PutEmptySlice("sentry.debug_meta.images").AppendEmpty().SetEmptyMap()
	image.PutStr("type", kind)
	image.PutStr("code_file", file)
	image.PutStr("debug_id", id)
}

func text(attrs pcommon.Map, key string) string {
	v, _ := attrs.Get(key)
	return v.AsString()
}

// sent returns the exceptions that the exporter sends to Sentry.
func sent(attrs pcommon.Map) []event.Exception {
	e, _ := event.DecodeEvent(event.Events.Append(nil, &event.ErrorEvent{Lists: &exception.Lists{Attributes: attrs}}))
	return e.Exceptions
}

func TestJavaScriptOfSentry(t *testing.T) {
	logs, attrs := record("javascript")
	putImage(attrs, "sourcemap", url, debugID)
	putException(attrs, "RangeError", "",
		map[string]any{"function": "r.add", "abs_path": url, "filename": "esbuild.js", "lineno": int64(1), "colno": column(t, "throw new RangeError"), "in_app": true},
		map[string]any{"function": "l", "abs_path": "https://other.example/x.js", "lineno": int64(1), "colno": int64(7)},
		map[string]any{"function": "Array.map"})
	before := sent(attrs)
	attrs.PutStr("exception.type", "RangeError")
	attrs.PutStr("exception.stacktrace", event.StacktraceText(before, "javascript"))
	counts := Logs(logs, shop{t})()
	assert.Equal(t, symbolicate.Counts{symbols.OK: 1, symbols.MissingFile: 1}, counts)
	assert.Equal(t, "RangeError: no stock\n    at Checkout.add (shop.ts:18:20)\n    at l (https://other.example/x.js:1:7)\n    at Array.map", text(attrs, "exception.stacktrace"))
	assert.Equal(t, event.StacktraceText(before, "javascript"), text(attrs, "exception.stacktrace.original"))
	assert.Equal(t, "ok", text(attrs, "symbolication.status"))
	assert.Equal(t, before, sent(attrs), "Sentry gets raw frames")
	frames := attrs.AsRaw()["sentry.exceptions"].([]any)[0].(map[string]any)["stacktrace"].(map[string]any)["frames"].([]any)
	assert.Equal(t, []any{map[string]any{"function": "Checkout.add", "filename": "shop.ts", "lineno": int64(18), "colno": int64(20), "in_app": true}}, frames[0].(map[string]any)["symbolicated"])
	assert.NotContains(t, frames[1], "symbolicated")

	again := Logs(logs, shop{t})()
	assert.Empty(t, again, "exceptions with names are left alone")
}

func TestJVMOfSentry(t *testing.T) {
	logs, attrs := record("android")
	putImage(attrs, "proguard", "", buildID)
	putException(attrs, "d", "a", map[string]any{"function": "run", "module": "a.d$a", "lineno": int64(1)})
	putException(attrs, "c", "a",
		map[string]any{"function": "a", "module": "a.b", "filename": "SourceFile", "lineno": int64(6)},
		map[string]any{"function": "run", "module": "java.lang.Thread", "filename": "Thread.java", "lineno": int64(1012)})
	before := sent(attrs)
	attrs.PutStr("exception.type", "c")
	attrs.PutStr("exception.stacktrace", event.StacktraceText(before, "android"))
	counts := Logs(logs, shop{t})()
	assert.Equal(t, symbolicate.Counts{symbols.OK: 2, symbols.NoSymbol: 1}, counts)
	assert.Equal(t, `Item: no stock
    at com.example.shop.Item.tax (Items.kt:30)
    at com.example.shop.Item.price (Items.kt:10)
    at com.example.shop.Cart.total (Cart.kt:22)
    at java.lang.Thread.run (Thread.java:1012)
Caused by: Legacy: no stock
    at com.example.shop.Legacy$Inner$1.run (Legacy.java:5)`, text(attrs, "exception.stacktrace"))
	assert.Equal(t, "Item", text(attrs, "exception.type"))
	assert.Equal(t, "c", text(attrs, "exception.type.original"))
	list, _ := attrs.Get("sentry.exceptions")
	for i, class := range []string{"com.example.shop.Legacy", "com.example.shop.Item"} {
		assert.Equal(t, class, text(list.Slice().At(i).Map(), "symbolicated"))
	}
	assert.Equal(t, before, sent(attrs), "Sentry gets raw frames and types")
}

// The stack of the thrown exception can be that of its thread.
func TestThreads(t *testing.T) {
	logs, attrs := record("android")
	putImage(attrs, "proguard", "", buildID)
	list := attrs.PutEmptySlice("sentry.exceptions").AppendEmpty().SetEmptyMap()
	list.PutStr("type", "ANR")
	thread := attrs.PutEmptySlice("sentry.threads").AppendEmpty().SetEmptyMap()
	thread.PutStr("id", "1")
	thread.PutBool("crashed", true)
	frame := thread.PutEmptyMap("stacktrace").PutEmptySlice("frames").AppendEmpty().SetEmptyMap()
	frame.PutStr("module", "a.c")
	frame.PutStr("function", "a")
	frame.PutInt("lineno", 1)
	attrs.PutStr("exception.stacktrace", "ANR\n    at a.c.a")
	Logs(logs, shop{t})()
	assert.Equal(t, "ANR\n    at com.example.shop.Item.price (Items.kt:9)", text(attrs, "exception.stacktrace"))
}

// Exceptions of OpenTelemetry have the text of the language.
func TestText(t *testing.T) {
	for name, c := range map[string]struct{ mapping, in, want string }{
		"V8": {"", fmt.Sprintf("RangeError: no\r\n    at r.add (%s:1:%d)\r\n    at async %[1]s:1:%[3]d {\r\n    at node:internal/timers:1:1\r\n    at Array.map (<anonymous>)", url, column(t, "throw new RangeError"), column(t, "throw new Error")),
			"RangeError: no\r\n    at Checkout.add (shop.ts:18:20)\r\n    at async fail (shop.ts:43:26) {\r\n    at node:internal/timers:1:1\r\n    at Array.map (<anonymous>)"},
		"Firefox": {"", fmt.Sprintf("add@%s:1:%d\nmap@[native code]\n", url, column(t, "throw new RangeError")), "Checkout.add@shop.ts:18:20\nmap@[native code]\n"},
		"Java": {buildID, "a.c: no stock\n\tat a.b.a(SourceFile:6)\n\tat java.lang.Thread.run(Thread.java:1012) ~[?:?]\nCaused by: a.d: x\n\tat a.d$a.run(SourceFile:1)\n\t... 1 more\n",
			"com.example.shop.Item: no stock\n\tat com.example.shop.Item.tax(Items.kt:30)\n\tat com.example.shop.Item.price(Items.kt:10)\n\tat com.example.shop.Cart.total(Cart.kt:22)\n\tat java.lang.Thread.run(Thread.java:1012) ~[?:?]\nCaused by: com.example.shop.Legacy: x\n\tat com.example.shop.Legacy$Inner$1.run(Legacy.java:5)\n\t... 1 more\n"},
	} {
		traces := ptrace.NewTraces()
		resource := traces.ResourceSpans().AppendEmpty()
		resource.Resource().Attributes().PutStr("service.version", "1.0")
		if c.mapping != "" {
			resource.Resource().Attributes().PutStr("app.debug.proguard_uuid", c.mapping)
		}
		attrs := resource.ScopeSpans().AppendEmpty().Spans().AppendEmpty().Events().AppendEmpty().Attributes()
		attrs.PutStr("exception.stacktrace", c.in)
		counts := Traces(traces, shop{t})()
		assert.Positive(t, counts[symbols.OK], name)
		assert.Equal(t, c.want, text(attrs, "exception.stacktrace"), name)
		assert.Equal(t, c.in, text(attrs, "exception.stacktrace.original"), name)
	}
}

// Exceptions without a symbol file stay as they are.
func TestUnchanged(t *testing.T) {
	for name, fill := range map[string]func(pcommon.Map){
		"no exception": func(m pcommon.Map) { m.PutStr("message", "at l (https://shop.example/assets/esbuild.js:1:39)") },
		"not a text":   func(m pcommon.Map) { m.PutInt("exception.stacktrace", 1) },
		"other languages": func(m pcommon.Map) {
			m.PutStr("exception.stacktrace", "  File \"shop.py\", line 3, in l\nValueError: x: y")
		},
		"other file": func(m pcommon.Map) {
			m.PutStr("exception.stacktrace", "E: x\n    at l (https://other.example/x.js:1:39)")
		},
		"not a list": func(m pcommon.Map) { m.PutStr("sentry.exceptions", "x") },
		"other types": func(m pcommon.Map) {
			list := m.PutEmptySlice("sentry.exceptions")
			list.AppendEmpty().SetStr("x")
			e := list.AppendEmpty().SetEmptyMap()
			e.PutStr("stacktrace", "x")
			list.AppendEmpty().SetEmptyMap().PutEmptyMap("stacktrace").PutStr("frames", "x")
			list.AppendEmpty().SetEmptyMap().PutEmptyMap("stacktrace").PutEmptySlice("frames").AppendEmpty().SetInt(1)
			m.PutEmptySlice("sentry.threads").AppendEmpty().SetEmptyMap().PutInt("stacktrace", 1)
			m.PutEmptySlice("sentry.debug_meta.images").AppendEmpty().SetInt(1)
		},
	} {
		logs, attrs := record("javascript")
		fill(attrs)
		before := attrs.AsRaw()
		Logs(logs, shop{t})()
		assert.Equal(t, before, attrs.AsRaw(), name)
	}
}

// One long name for many frames stays within a multiple of the input.
func TestOutputIsBounded(t *testing.T) {
	logs, attrs := record("android")
	attrs.PutStr("app.debug.proguard_uuid", buildID)
	attrs.PutStr("exception.stacktrace", "E: x\n"+strings.Repeat("\tat x.x.x(x:1)\n", 20_000))
	before := new(plog.ProtoMarshaler).LogsSize(logs)
	class := strings.Repeat("long", 60)
	counts := Logs(logs, oneMapping{mappingOf(t, class+" -> x.x:\n    1:1:void "+class+"() -> x\n")})()
	assert.Positive(t, counts[symbols.Limit])
	added := new(plog.ProtoMarshaler).LogsSize(logs) - before
	t.Logf("%d bytes grow by %d, %.2f of the bound", before, added, float64(added)/float64(2<<20+16*before))
	assert.LessOrEqual(t, added, 2<<20+16*before, "as the README states")
	assert.Greater(t, added, 2<<20+15*before)
}

func mappingOf(t *testing.T, text string) *proguard.Mapping {
	m, err := proguard.Read(symbols.NewWork(t.Context(), 1<<20, proguard.Limits, nil), strings.NewReader(text))
	require.NoError(t, err)
	return m
}

type oneMapping struct{ mapping *proguard.Mapping }

func (oneMapping) Script(symbolicate.ScriptID) (*sourcemap.File, symbols.Status) {
	return nil, symbols.MissingFile
}
func (o oneMapping) Mapping(string) (*proguard.Mapping, symbols.Status) { return o.mapping, symbols.OK }
func (oneMapping) Native(symbolicate.NativeID) (*native.Table, symbols.Status) {
	return nil, symbols.MissingFile
}

// TestInputIsBounded: a frame of four bytes needs 400 in memory, so only as many are read as the
// size of the message suggests. Exceptions and threads count like frames.
func TestInputIsBounded(t *testing.T) {
	const n = 25_000
	logs, attrs := record("native")
	frames := attrs.PutEmptySlice("sentry.exceptions").AppendEmpty().SetEmptyMap().PutEmptyMap("stacktrace").PutEmptySlice("frames")
	for range n {
		frames.AppendEmpty().SetEmptyMap()
	}
	read := fewElements + new(plog.ProtoMarshaler).LogsSize(logs)/exception.ElementBytes
	assert.Equal(t, symbolicate.Counts{symbols.Limit: n + 1 - read}, Logs(logs, shop{t})())
}

// The innermost address is that of an instruction, the others follow a call.
func TestNativeOfSentry(t *testing.T) {
	for kind, c := range map[string]struct {
		name string // of the frames, as the SDK writes it
		want symbolicate.Counts
	}{
		"elf":                    {"", symbolicate.Counts{symbols.OK: 3, symbols.MissingFile: 1}},
		"elf with addresses":     {"0x7f0000101010", symbolicate.Counts{symbols.OK: 3, symbols.MissingFile: 1}},
		"macho with wrong names": {"nearest", symbolicate.Counts{symbols.OK: 3, symbols.MissingFile: 1}},
		"elf with names":         {"known", symbolicate.Counts{}},
	} {
		t.Run(kind, func(t *testing.T) {
			imageType, _, _ := strings.Cut(kind, " ")
			logs, attrs := record("native")
			frame := func(address string) map[string]any {
				return map[string]any{"instruction_addr": address, "function": c.name}
			}
			putException(attrs, "SIGSEGV", "", frame("0x7f0000001010"), frame("0x7f0000001010"), frame("0x7f000000101c"), frame("0x60"), frame("0x8000000"))
			attrs.PutStr("exception.stacktrace", "raw")
			images := attrs.PutEmptySlice("sentry.debug_meta.images")
			_ = images.AppendEmpty().SetEmptyMap().FromRaw(map[string]any{"type": imageType, "debug_id": cartID, "image_addr": "0x7f0000000000", "image_size": int64(0x10000)})
			_ = images.AppendEmpty().SetEmptyMap().FromRaw(map[string]any{"type": imageType, "debug_id": "unknown", "image_addr": "0x8000000", "image_size": "0x1000"})
			_ = images.AppendEmpty().SetEmptyMap().FromRaw(map[string]any{"type": imageType, "debug_id": cartID, "image_addr": "0xffffffffffffffff", "image_size": "0x1000"})
			counts := Logs(logs, shop{t})()
			assert.Equal(t, c.want, counts)
			if len(c.want) == 0 {
				assert.Equal(t, "raw", text(attrs, "exception.stacktrace"))
				return
			}
			stack := text(attrs, "exception.stacktrace")
			t.Log(stack)
			at := 0
			for _, want := range []string{"Cart::total", "cart.cc:30", "Cart::fail", "cart.cc:20", "Item::price", "item.h:5", "Cart::total", "cart.cc:30"} {
				i := strings.Index(stack[at:], want)
				require.GreaterOrEqual(t, i, 0, want)
				at += i
			}
			assert.Equal(t, "raw", text(attrs, "exception.stacktrace.original"))
			raw := sent(attrs)[0].Stacktrace.Frames
			require.Len(t, raw, 5)
			assert.EqualValues(t, 0x7f0000001010, raw[4].InstructionAddr.Value)
			assert.Equal(t, c.name, raw[4].Function, "Sentry gets the raw frame")
		})
	}
}

// TestRelativeAddress: an offset in a function (.NET) is never an address of an image.
func TestRelativeAddress(t *testing.T) {
	logs, attrs := record("csharp")
	putException(attrs, "InvalidOperationException", "System",
		map[string]any{"instruction_addr": "0x1010", "addr_mode": "rel:0", "function_id": "0x6000012"},
		map[string]any{"instruction_addr": "0x1010", "addr_mode": "rel:" + cartID})
	_ = attrs.PutEmptySlice("sentry.debug_meta.images").AppendEmpty().SetEmptyMap().FromRaw(map[string]any{"type": "elf", "debug_id": cartID, "image_addr": "0x0", "image_size": int64(0x10000)})
	before := attrs.AsRaw()
	assert.Empty(t, Logs(logs, shop{t})())
	assert.Equal(t, before, attrs.AsRaw())
	assert.Equal(t, "InvalidOperationException: no stock\n    at rel:0+0x1010\n    at rel:"+cartID+"+0x1010", event.StacktraceText(sent(attrs), "csharp"))
}

// TestTree: the frames of a call tree keep their positions; in the text, inlined functions are
// nodes between a frame and its callees. Only addresses of frames without callees are those of an
// instruction.
func TestTree(t *testing.T) {
	logs, attrs := record("cocoa")
	putException(attrs, "MXHangDiagnostic", "",
		map[string]any{"instruction_addr": "0x10000101c", "parent_index": int64(-1), "sample_count": int64(9)},
		map[string]any{"instruction_addr": "0x100001010", "parent_index": int64(0), "sample_count": int64(5)},
		map[string]any{"instruction_addr": "0x9", "function": "idle", "parent_index": int64(1), "sample_count": int64(5)},
		map[string]any{"instruction_addr": "0x100001010", "parent_index": int64(0), "sample_count": int64(4)})
	images := attrs.PutEmptySlice("sentry.debug_meta.images") // MetricKit states no sizes
	_ = images.AppendEmpty().SetEmptyMap().FromRaw(map[string]any{"type": "macho", "debug_id": cartID, "image_addr": "0x100000000"})
	attrs.PutStr("exception.stacktrace", "raw")
	before := sent(attrs)
	counts := Logs(logs, shop{t})()
	assert.Equal(t, symbolicate.Counts{symbols.OK: 3}, counts)
	assert.Equal(t, `MXHangDiagnostic: no stock
    9 Cart::total (cart.cc:30)
      9 Item::price (item.h:5)
        5 Cart::fail (cart.cc:20)
          5 idle
        4 Cart::total (cart.cc:30)`, text(attrs, "exception.stacktrace"))
	assert.Equal(t, before, sent(attrs), "Sentry gets the raw tree")
}

// TestMessage: the stack of a message is symbolicated like that of an exception.
func TestMessage(t *testing.T) {
	logs, attrs := record("javascript")
	putImage(attrs, "sourcemap", url, debugID)
	frame := attrs.PutEmptyMap("sentry.stacktrace").PutEmptySlice("frames").AppendEmpty().SetEmptyMap()
	_ = frame.FromRaw(map[string]any{"function": "r.add", "abs_path": url, "lineno": int64(1), "colno": column(t, "throw new RangeError")})
	attrs.PutStr("code.stacktrace", "raw")
	counts := Logs(logs, shop{t})()
	assert.Equal(t, symbolicate.Counts{symbols.OK: 1}, counts)
	assert.Equal(t, "    at Checkout.add (shop.ts:18:20)", text(attrs, "code.stacktrace"))
	assert.Equal(t, "raw", text(attrs, "code.stacktrace.original"))
	assert.Equal(t, "ok", text(attrs, "symbolication.status"))
	_, named := frame.Get("symbolicated")
	assert.True(t, named)
	assert.Equal(t, "r.add", exception.MessageStack(attrs, exception.Unlimited).Frames[0].Function, "Sentry gets raw frames")
	assert.Empty(t, Logs(logs, shop{t})(), "once")
}
