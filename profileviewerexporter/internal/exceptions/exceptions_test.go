// SPDX-License-Identifier: Apache-2.0

package exceptions

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// testFrame is a frame in few words.
type testFrame struct {
	function string
	line     int
	inApp    bool
}

// record returns a record as our receivers write it: frames are innermost first.
func record(at uint64, kind, message string, frames ...testFrame) plog.Logs {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	r := resource.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetTimestamp(pcommon.Timestamp(at))
	r.Attributes().PutStr("exception.type", kind)
	r.Attributes().PutStr("exception.message", message)
	one := r.Attributes().PutEmptySlice("sentry.exceptions").AppendEmpty().SetEmptyMap()
	one.PutStr("type", kind)
	one.PutStr("value", message)
	list := one.PutEmptyMap("stacktrace").PutEmptySlice("frames")
	for _, f := range frames {
		m := list.AppendEmpty().SetEmptyMap()
		m.PutStr("function", f.function)
		m.PutStr("filename", "shop.py")
		m.PutInt("lineno", int64(f.line))
		m.PutBool("in_app", f.inApp)
	}
	return logs
}

func groupsOf(t *testing.T, logs ...plog.Logs) (Groups, *store.Store) {
	s, groups := store.New(1<<30, time.Hour), Groups{}
	for _, l := range logs {
		_, err := s.AddLogs(t.Context(), l, time.Now())
		require.NoError(t, err)
	}
	unread, err := Each(s.Messages(), groups.Add)
	require.NoError(t, err)
	require.Zero(t, unread)
	return groups, s
}

func list(t *testing.T, groups Groups, query string) ListAnswer {
	values, err := url.ParseQuery(query)
	require.NoError(t, err)
	q, err := listing.Parse(values, Columns...)
	require.NoError(t, err)
	return groups.List(q, 0)
}

// TestGroups: errors are equal if the type and the application frames are, regardless of lines,
// library frames and messages.
func TestGroups(t *testing.T) {
	base := []testFrame{{"libraise", 1, false}, {"pay", 10, true}, {"checkout", 20, true}}
	groups, _ := groupsOf(t,
		record(1, "ValueError", "a", base...),
		record(5, "ValueError", "b", testFrame{"libraise", 7, false}, testFrame{"libmore", 1, false}, testFrame{"pay", 11, true}, testFrame{"checkout", 21, true}),
		record(2, "KeyError", "a", base...),
		record(3, "ValueError", "a", base[0], base[2]),
		record(4, "ValueError", "no stack 17"), record(6, "ValueError", "no stack 18"), record(7, "ValueError", "other"))
	all := list(t, groups, "sort=-count")
	assert.Equal(t, 5, all.Count)
	assert.Equal(t, 7, all.Errors)
	var rows []string
	for _, g := range all.Groups {
		rows = append(rows, fmt.Sprint(g.Type, " ", g.Message, " ×", g.Count, " ", g.First, "-", g.Last, " ", g.Place))
		sum := 0
		for _, n := range g.Activity {
			sum += n
		}
		assert.Equal(t, g.Count, sum, "the chart has all errors")
	}
	slices.Sort(rows)
	assert.Equal(t, []string{
		"KeyError a ×1 2-2 pay shop.py", "ValueError a ×1 3-3 checkout shop.py", "ValueError b ×2 1-5 pay shop.py",
		"ValueError no stack 18 ×2 4-6 ", "ValueError other ×1 7-7 ",
	}, rows)

	assert.Equal(t, 3, list(t, groups, "q=NO+stack").Errors+list(t, groups, "q=keyerror").Errors)
	assert.Zero(t, list(t, groups, "service=cart").Count)
}

// TestFingerprint: the application's fingerprint decides, unless it contains the default.
func TestFingerprint(t *testing.T) {
	with := func(at uint64, kind string, parts ...string) plog.Logs {
		logs := record(at, kind, "x")
		fingerprint := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes().PutEmptySlice("sentry.fingerprint")
		for _, part := range parts {
			fingerprint.AppendEmpty().SetStr(part)
		}
		return logs
	}
	same, _ := groupsOf(t, with(1, "A", "db"), with(2, "B", "db"))
	assert.Len(t, same, 1)
	different, _ := groupsOf(t, with(1, "A", "{{ default }}"), with(2, "B", "{{ default }}"))
	assert.Len(t, different, 2)
}

// TestRecordedEvent: the detail of a recorded event has its stack, lines, local variables and
// breadcrumbs.
func TestRecordedEvent(t *testing.T) {
	body, err := os.ReadFile("../../../testdata/cases/event-python/in.envelope")
	require.NoError(t, err)
	var logs []plog.Logs
	for _, line := range strings.Split(string(body), "\n") {
		if strings.Contains(line, `"exception"`) {
			e, err := event.DecodeEvent([]byte(line))
			require.NoError(t, err)
			logs = append(logs, fromsentry.EventToLogs(e, fromsentry.Source{}))
		}
	}
	require.NotEmpty(t, logs)
	groups, s := groupsOf(t, logs...)
	require.Len(t, groups, 1)
	detail := NewDetail("")
	_, err = Each(s.Messages(), detail.Add)
	require.NoError(t, err)
	out := detail.Answer()
	require.Len(t, out.Error.Exceptions, 2)
	thrown, cause := out.Error.Exceptions[0], out.Error.Exceptions[1]
	assert.Equal(t, []string{"ValueError", "ZeroDivisionError"}, []string{thrown.Type, cause.Type})
	assert.Equal(t, []string{"coupon", "extras"}, []string{thrown.Frames[0].Function, thrown.Frames[1].Function}, "the innermost first")
	assert.Equal(t, int64(62), thrown.Frames[0].Line)
	assert.Contains(t, thrown.Frames[0].Vars, answer.Attribute{Key: "code", Value: "'SPRING'"})
	require.NotEmpty(t, out.Error.Breadcrumbs)
	assert.Equal(t, "httplib", out.Error.Breadcrumbs[0].Category)
	for _, a := range out.Error.Attributes {
		assert.NotContains(t, shown, a.Key)
	}
}

// TestSymbolicated: symbolicated frames have the names from the symbol file and the raw ones;
// errors are grouped by the former.
func TestSymbolicated(t *testing.T) {
	logs := record(1, "a.i", "x", testFrame{"a", 6, true}, testFrame{"outline", 1, true}, testFrame{"kept", 7, true})
	attributes := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes()
	list, _ := attributes.Get("sentry.exceptions")
	one := list.Slice().At(0).Map()
	one.PutStr("symbolicated", "com.example.CartException")
	stack, _ := one.Get("stacktrace")
	frames, _ := stack.Map().Get("frames")
	raw := frames.Slice().At(0).Map()
	raw.PutEmptyMap("vars").PutStr("n", "1")
	functions := raw.PutEmptySlice("symbolicated")
	functions.AppendEmpty().SetEmptyMap().PutStr("function", "tax") // inlined into price
	functions.AppendEmpty().SetEmptyMap().PutStr("function", "price")
	frames.Slice().At(1).Map().PutEmptySlice("symbolicated")
	groups, s := groupsOf(t, logs)
	for _, g := range groups {
		assert.Equal(t, "CartException", g.kind)
	}
	detail := NewDetail("")
	_, err := Each(s.Messages(), detail.Add)
	require.NoError(t, err)
	shown := detail.Answer().Error.Exceptions[0]
	assert.Equal(t, "CartException", shown.Type)
	var names []string
	for _, f := range shown.Frames {
		names = append(names, f.Function)
	}
	assert.Equal(t, []string{"tax", "price", "kept"}, names)
	assert.Equal(t, &RawFrameAnswer{Function: "a", File: "shop.py", Line: 6}, shown.Frames[0].Raw)
	assert.Empty(t, shown.Frames[0].Vars)
	assert.Len(t, shown.Frames[1].Vars, 1, "variables of the frame are those of the outermost function")
	assert.Nil(t, shown.Frames[2].Raw)
}

// TestSpanEvent: exceptions in the events of spans are errors as well; their stack is a text.
func TestSpanEvent(t *testing.T) {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "cart")
	span := resource.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{2})
	event := span.Events().AppendEmpty()
	event.SetName("exception")
	event.SetTimestamp(3)
	event.Attributes().PutStr("exception.type", "ValueError")
	event.Attributes().PutStr("exception.message", "bad")
	event.Attributes().PutStr("exception.stacktrace", "Traceback (most recent call last):\n"+
		"  File \"/app/main.py\", line 3, in main\n    pay()\n  File \"/usr/lib/python3/site-packages/lib.py\", line 9, in pay\n    raise ValueError\nValueError: bad\n")
	s, detail := store.New(1<<30, time.Hour), NewDetail("")
	_, err := s.AddTraces(t.Context(), traces, time.Now())
	require.NoError(t, err)
	_, err = Each(s.Messages(), detail.Add)
	require.NoError(t, err)
	out := detail.Answer()
	assert.Equal(t, "cart", out.Error.Service)
	assert.Equal(t, "main /app/main.py", out.Group.Place, "the innermost application frame")
	require.Len(t, out.Error.Exceptions, 1)
	frames := out.Error.Exceptions[0].Frames
	require.Len(t, frames, 2)
	assert.Equal(t, "raise ValueError", frames[0].Source)
	assert.False(t, *frames[0].InApp)
}

// TestChosen: the detail describes the error with the key, or else the latest.
func TestChosen(t *testing.T) {
	_, s := groupsOf(t, record(5, "A", "five"), record(9, "A", "nine"), record(7, "A", "seven"))
	for key, want := range map[string]string{"": "nine", "5-0000000000000000": "five", "7-0000000000000000": "seven", "unknown": "nine"} {
		detail := NewDetail(key)
		_, err := Each(s.Messages(), detail.Add)
		require.NoError(t, err)
		assert.Equal(t, want, detail.Answer().Error.Exceptions[0].Message, key)
	}
}

// TestHostileLists: values of other types, and long texts in long lists.
func TestHostileLists(t *testing.T) {
	logs := record(1, "A", "x")
	attributes := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes()
	long := strings.Repeat("<\"", 900)
	chain := attributes.PutEmptySlice("sentry.exceptions")
	chain.AppendEmpty().SetStr("no map")
	for range 30 {
		m := chain.AppendEmpty().SetEmptyMap()
		m.PutStr("type", long)
		m.PutStr("mechanism", "no map")
		frames := m.PutEmptyMap("stacktrace").PutEmptySlice("frames")
		frames.AppendEmpty().SetInt(7)
		for range 300 {
			f := frames.AppendEmpty().SetEmptyMap()
			f.PutStr("function", long)
			f.PutStr("lineno", "no number")
			f.PutStr("pre_context", "no list")
		}
		vars := frames.At(1).Map().PutEmptyMap("vars")
		for i := range 100 {
			vars.PutStr(fmt.Sprint(i, long), long)
		}
	}
	crumbs := attributes.PutEmptySlice("sentry.breadcrumbs")
	crumbs.AppendEmpty().SetBool(true)
	for range 200 {
		crumbs.AppendEmpty().SetEmptyMap().PutStr("message", long)
	}
	_, s := groupsOf(t, logs)
	detail := NewDetail("")
	_, err := Each(s.Messages(), detail.Add)
	require.NoError(t, err)
	out := detail.Answer()
	encoded, err := json.Marshal(out)
	require.NoError(t, err)
	assert.Less(t, len(encoded), 2*answer.MaxResponse) // Marshal escapes <
	_, err = answer.JSON(out)
	require.NoError(t, err, "within the limit")
	assert.Positive(t, out.Omitted)
	assert.LessOrEqual(t, len(out.Error.Exceptions), maxExceptions)
	assert.Len(t, out.Error.Breadcrumbs, maxBreadcrumbs)
	shown := 0
	for _, x := range out.Error.Exceptions {
		shown += len(x.Frames)
	}
	t.Logf("%d of %d frames", shown, maxFramesShown)
	assert.LessOrEqual(t, shown, maxFramesShown)
}

// errorOf returns the detail of the only error of an event.
func errorOf(t *testing.T, payload string) (ErrorAnswer, GroupAnswer) {
	e, err := event.DecodeEvent([]byte(payload))
	require.NoError(t, err)
	_, s := groupsOf(t, fromsentry.EventToLogs(e, fromsentry.Source{}))
	detail := NewDetail("")
	_, err = Each(s.Messages(), detail.Add)
	require.NoError(t, err)
	return detail.Answer().Error, detail.Answer().Group
}

// TestRelativeAddress: an offset in a function (.NET) is not shown as an address.
func TestRelativeAddress(t *testing.T) {
	shown, _ := errorOf(t, `{"exception":[{"type":"E","stacktrace":{"frames":[{"instruction_addr":"0x105","addr_mode":"rel:0","function_id":"0x6000012"},{"instruction_addr":"0x105","addr_mode":"abs"}]}}]}`)
	assert.Equal(t, []string{"0x105", "rel:0+0x105"}, []string{shown.Exceptions[0].Frames[0].Function, shown.Exceptions[0].Frames[1].Function})
}

// TestCallTree: a tree is shown as such. The group's place is the innermost application frame of
// the path with most samples.
func TestCallTree(t *testing.T) {
	shown, group := errorOf(t, `{"exception":[{"type":"MXHangDiagnostic","stacktrace":{"frames":[
		{"function":"main","in_app":true,"parent_index":-1,"sample_count":10},
		{"function":"fast","in_app":true,"parent_index":0,"sample_count":3},
		{"function":"slow","in_app":true,"parent_index":0,"sample_count":7},
		{"function":"sqlite3_step","in_app":false,"parent_index":2,"sample_count":5}]}}]}`)
	assert.True(t, shown.Exceptions[0].Tree)
	var lines []string
	for _, f := range shown.Exceptions[0].Frames {
		lines = append(lines, fmt.Sprintf("%d %s %d", f.Depth, f.Function, f.Samples))
	}
	assert.Equal(t, []string{"0 main 10", "1 fast 3", "1 slow 7", "2 sqlite3_step 5"}, lines)
	assert.Equal(t, "slow", group.Place)
}

// TestSymbolicatedTree: functions that a symbol file names for a frame are nodes above its callees.
func TestSymbolicatedTree(t *testing.T) {
	m := pcommon.NewMap()
	_ = m.FromRaw(map[string]any{"stacktrace": map[string]any{"frames": []any{
		map[string]any{"parent_index": int64(-1), "symbolicated": []any{map[string]any{"function": "inlined"}, map[string]any{"function": "main"}}},
		map[string]any{"function": "callee", "parent_index": int64(0)},
	}}})
	attributes := pcommon.NewMap()
	m.MoveTo(attributes.PutEmptySlice("sentry.exceptions").AppendEmpty().SetEmptyMap())
	e := chainOf(attributes)[0]
	var lines []string
	for _, f := range e.frames {
		lines = append(lines, strings.Repeat(" ", f.depth)+f.function)
	}
	assert.Equal(t, []string{"main", " inlined", "  callee"}, lines)
}

// TestThreadStack: an exception without a stack has that of its thread, as in exception.stacktrace:
// of the thread that it names, or else of the crashed one.
func TestThreadStack(t *testing.T) {
	const threads = `"threads":[{"id":"1","crashed":true,"stacktrace":{"frames":[{"function":"crashed"}]}},{"id":"2","stacktrace":{"frames":[{"function":"named"}]}}]`
	for thrown, want := range map[string]string{`"type":"E"`: "crashed", `"type":"E","thread_id":2`: "named"} {
		shown, _ := errorOf(t, `{"exception":[{`+thrown+`}],`+threads+`}`)
		require.Len(t, shown.Exceptions[0].Frames, 1, thrown)
		assert.Equal(t, want, shown.Exceptions[0].Frames[0].Function)
	}
}

// TestListWithoutExceptions: a list without any exception is none.
func TestListWithoutExceptions(t *testing.T) {
	logs := record(1, "A", "x")
	logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes().PutEmptySlice("sentry.exceptions").AppendEmpty().SetStr("no map")
	_, s := groupsOf(t, logs)
	detail := NewDetail("")
	_, err := Each(s.Messages(), detail.Add)
	require.NoError(t, err)
	assert.Equal(t, "A", detail.Answer().Error.Exceptions[0].Type)
}

// TestMessageStack: the stack of a message (PHP, raven) is shown like that of an exception.
func TestMessageStack(t *testing.T) {
	shown, group := errorOf(t, `{"message":"cart is empty","stacktrace":{"frames":[{"function":"main","filename":"index.php","lineno":3,"in_app":true},{"function":"total","filename":"cart.php","lineno":9,"in_app":true}]}}`)
	require.Len(t, shown.Exceptions[0].Frames, 2)
	assert.Equal(t, "total", shown.Exceptions[0].Frames[0].Function)
	assert.Equal(t, "total cart.php", group.Place)
	assert.Equal(t, "cart is empty", group.Message)
	for _, a := range shown.Attributes {
		assert.NotContains(t, []string{"sentry.stacktrace", "code.stacktrace"}, a.Key)
	}
}
