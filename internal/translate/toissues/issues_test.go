// SPDX-License-Identifier: Apache-2.0

package toissues

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	sentryevent "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

const second = 1_000_000_000

func options() Options {
	return Options{
		ExportOptions: tosentry.ExportOptions{SDK: sentry.ClientSDK{Name: "otelcol-test", Version: "1.2.3"}},
		FromSpans:     Unhandled, SkipIfSentrySDK: true, Tags: DefaultTags,
	}
}

// shop returns a request with nested spans, all of which failed: GET /cart, checkout, charge.
func shop(language string) (traces ptrace.Traces, spans []ptrace.Span) {
	traces = ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	for key, value := range map[string]string{
		"service.name": "shop", "service.version": "1.0", "deployment.environment.name": "prod", "host.name": "web-1",
		"telemetry.sdk.name": "opentelemetry", "telemetry.sdk.language": language,
	} {
		resource.Resource().Attributes().PutStr(key, value)
	}
	scope := resource.ScopeSpans().AppendEmpty()
	for i, name := range []string{"GET /cart", "checkout", "charge"} {
		span := scope.Spans().AppendEmpty()
		span.SetName(name)
		span.SetTraceID(pcommon.TraceID{1})
		span.SetSpanID(pcommon.SpanID{byte(i + 1)})
		if i > 0 {
			span.SetParentSpanID(pcommon.SpanID{byte(i)})
		} else {
			span.SetKind(ptrace.SpanKindServer)
		}
		span.SetStartTimestamp(pcommon.Timestamp(1_700_000_000*second + i))
		span.SetEndTimestamp(pcommon.Timestamp(1_700_000_001*second - i))
		span.Status().SetCode(ptrace.StatusCodeError)
		spans = append(spans, span)
	}
	return traces, spans
}

func fail(span ptrace.Span, kind, message, stack string) ptrace.SpanEvent {
	event := span.Events().AppendEmpty()
	event.SetName("exception")
	event.SetTimestamp(span.EndTimestamp())
	event.Attributes().PutStr("exception.type", kind)
	event.Attributes().PutStr("exception.message", message)
	event.Attributes().PutStr("exception.stacktrace", stack)
	return event
}

func python(frames ...string) string {
	stack := "Traceback (most recent call last):\n"
	for i, frame := range frames {
		stack += fmt.Sprintf("  File \"/app/%s.py\", line %d, in %s\n    call()\n", frame, i+1+len(frame), frame)
	}
	return stack + "shop.payment.PaymentError: card of order 17 declined\n"
}

// decode decodes an event, and checks that Sentry's ingest accepts it.
func decode(t *testing.T, e Event) *sentryevent.ErrorEvent {
	t.Helper()
	envelope := &sentry.Envelope{Header: sentry.EnvelopeHeader{EventID: e.EventID, Trace: e.Trace}, Items: []sentry.Item{e.Item}}
	require.Empty(t, fakesentry.Verdict(envelope), "%s", e.Payload)
	decoded, err := sentryevent.DecodeEvent(e.Payload)
	require.NoError(t, err)
	require.Empty(t, decoded.Flaws)
	return decoded
}

// TestOneFailureOnNestedSpansIsOneEvent: each span records the exception that passes through it;
// outer spans record more frames.
func TestOneFailureOnNestedSpansIsOneEvent(t *testing.T) {
	traces, spans := shop("python")
	spans[0].Attributes().PutStr("http.request.method", "GET")
	spans[0].Attributes().PutStr("url.full", "https://shop.example/cart")
	spans[2].Attributes().PutStr("http.route", "/charge")
	spans[2].Attributes().PutStr("user.id", "42")
	spans[2].Attributes().PutStr("card.type", "debit")
	spans[2].Events().AppendEmpty().SetName("card checked")
	spans[2].Events().At(0).SetTimestamp(spans[2].StartTimestamp())
	fail(spans[2], "shop.payment.PaymentError", "card of order 17 declined", python("charge"))
	fail(spans[1], "PaymentError", "card", python("checkout", "charge")[:]) // as in logs: shorter type, different message
	fail(spans[0], "shop.payment.PaymentError", "card of order 17 declined", python("view", "checkout", "charge"))
	// The innermost frame has the same line on all spans.
	for _, span := range spans {
		event := span.Events().At(span.Events().Len() - 1)
		stack, _ := event.Attributes().Get("exception.stacktrace")
		lines := strings.Split(stack.Str(), "\n")
		lines[len(lines)-4] = `  File "/app/charge.py", line 7, in charge`
		stack.SetStr(strings.Join(lines, "\n"))
	}
	before := marshal(t, traces)
	export := FromTraces(traces, options())
	require.Equal(t, before, marshal(t, traces), "the source is only read")
	require.Len(t, export.Events, 1)
	assert.Equal(t, []discard.Loss{{Reason: ReasonDuplicate, Count: 2}}, export.Lost)
	assert.Empty(t, export.Flaws)

	e := decode(t, export.Events[0])
	require.Len(t, e.Exceptions, 1)
	thrown := e.Exceptions[0]
	assert.Equal(t, "PaymentError", thrown.Type)
	assert.Equal(t, "shop.payment", thrown.Module)
	assert.Equal(t, "card of order 17 declined", thrown.Value)
	assert.Equal(t, &sentryevent.Mechanism{Type: "otel"}, thrown.Mechanism)
	innermost := thrown.Stacktrace.Frames[len(thrown.Stacktrace.Frames)-1]
	assert.Equal(t, "charge", innermost.Function)
	assert.Equal(t, "/app/charge.py", innermost.AbsPath)
	assert.Equal(t, "call()", innermost.ContextLine)
	assert.True(t, innermost.InApp.Value)
	assert.Equal(t, sentryevent.TraceContext{
		TraceID: "01000000000000000000000000000000", SpanID: "0300000000000000", ParentSpanID: "0200000000000000", Op: "default", Status: "internal_error",
	}, e.Trace, "of the earliest record")
	assert.Equal(t, "GET /cart", e.Transaction)
	assert.Equal(t, "https://shop.example/cart", e.Request.URL)
	assert.Equal(t, [...]string{"python", "error", "shop@1.0", "prod", "web-1"}, [...]string{e.Platform, e.Level, e.Release, e.Environment, e.ServerName})
	assert.Equal(t, "otelcol-test", e.SDK.Name)
	assert.Contains(t, string(e.Contexts[0].Value), `"also_on":["0200000000000000","0100000000000000"]`)
	require.NotEmpty(t, e.Breadcrumbs)
	assert.Equal(t, "card checked", e.Breadcrumbs[0].Category)

	assert.Equal(t, export, FromTraces(traces, options()), "the same IDs for the same message")
}

// TestFailureOfGo: each span records the stack of its own call of RecordError. Errors with another
// message are other failures.
func TestFailureOfGo(t *testing.T) {
	traces, spans := shop("go")
	stack := func(function string) string {
		return "goroutine 1 [running]:\ngo.opentelemetry.io/otel/sdk/trace.recordStackTrace()\n\t/go/span.go:1 +0x1\nmain." + function + "()\n\t/app/shop.go:7 +0x1\n"
	}
	fail(spans[2], "main.paymentError", "declined", stack("charge"))
	fail(spans[1], "main.paymentError", "declined", stack("checkout"))
	fail(spans[0], "main.paymentError", "expired", stack("checkout"))
	export := FromTraces(traces, options())
	require.Len(t, export.Events, 2)
	assert.Equal(t, []discard.Loss{{Reason: ReasonDuplicate, Count: 1}}, export.Lost)
	innermost := decode(t, export.Events[0]).Exceptions[0].Stacktrace.Frames
	assert.Equal(t, "charge", innermost[len(innermost)-1].Function)
	assert.NotEqual(t, export.Events[0].Kind, export.Events[1].Kind, "the flood guard counts by position")
}

// TestFieldsOfTheSpan: tags from the list, other attributes as extra data, the user's ID.
func TestFieldsOfTheSpan(t *testing.T) {
	traces, spans := shop("python")
	attrs := spans[2].Attributes()
	attrs.PutStr("http.route", "/charge")
	attrs.PutStr("user.id", "42")
	attrs.PutStr("user.email", "jane@example.com")
	attrs.PutStr("client.address", "203.0.113.7")
	attrs.PutStr("card.type", "debit")
	attrs.PutInt("http.response.status_code", 500)
	attrs.PutStr("db.system.name", strings.Repeat("x", 300)) // too long for a tag
	event := fail(spans[2], "PaymentError", "declined", python("charge"))
	event.Attributes().PutStr("exception.escaped", "True")
	event.Attributes().PutEmptySlice("sentry.fingerprint").AppendEmpty().SetStr("payment")

	e := decode(t, FromTraces(traces, options()).Events[0])
	assert.Equal(t, []sentryevent.Tag{{Key: "http.route", Value: "/charge"}, {Key: "http.response.status_code", Value: "500"}}, e.Tags)
	assert.Equal(t, []sentryevent.NamedValue{{Name: "id", Value: []byte(`"42"`)}}, e.User)
	assert.Equal(t, []string{"payment"}, e.Fingerprint)
	assert.False(t, e.Exceptions[0].Mechanism.Handled.Value)
	assert.True(t, e.Exceptions[0].Mechanism.Handled.Set)
	var extra map[string]any
	require.NoError(t, json.Unmarshal(e.Extra, &extra))
	assert.Equal(t, map[string]any{"card.type": "debit", "db.system.name": strings.Repeat("x", 300)}, extra)
	assert.Equal(t, "0200000000000000", e.Trace.ParentSpanID)

	personal := options()
	personal.IncludePII = true
	e = decode(t, FromTraces(traces, personal).Events[0])
	assert.ElementsMatch(t, []sentryevent.NamedValue{{Name: "id", Value: []byte(`"42"`)}, {Name: "email", Value: []byte(`"jane@example.com"`)}}, e.User)
}

// TestUser: the client of the request and enduser.id are personal data.
func TestUser(t *testing.T) {
	traces, spans := shop("python")
	spans[0].Attributes().PutStr("client.address", "203.0.113.7")
	spans[2].Attributes().PutStr("client.address", "198.51.100.1") // not of the request
	spans[2].Attributes().PutStr("enduser.id", "jane@example.com")
	fail(spans[2], "PaymentError", "declined", python("charge"))
	for pii, want := range map[bool][]sentryevent.NamedValue{
		false: nil,
		true:  {{Name: "id", Value: []byte(`"jane@example.com"`)}, {Name: "ip_address", Value: []byte(`"203.0.113.7"`)}},
	} {
		o := options()
		o.IncludePII = pii
		event := FromTraces(traces, o).Events[0]
		assert.ElementsMatch(t, want, decode(t, event).User)
		assert.NotContains(t, string(event.Payload), "198.51.100.1")
		if !pii {
			assert.NotContains(t, string(event.Payload), "jane@example.com")
			assert.NotContains(t, string(event.Payload), "203.0.113.7")
		}
	}
	spans[0].Attributes().PutStr("client.address", "client.example")
	o := options()
	o.IncludePII = true
	assert.Len(t, decode(t, FromTraces(traces, o).Events[0]).User, 1, "Sentry rejects host names")

	spans[2].Attributes().Remove("enduser.id")
	spans[0].Attributes().PutInt("user.id", 42)
	assert.Equal(t, []sentryevent.NamedValue{{Name: "id", Value: []byte(`"42"`)}}, decode(t, FromTraces(traces, options()).Events[0]).User, "of the request")

	spans[2].Attributes().PutStr("user.email", "jane@example.com")
	assert.Equal(t, []sentryevent.NamedValue{{Name: "id", Value: []byte(`"42"`)}}, decode(t, FromTraces(traces, options()).Events[0]).User, "beside an e-mail address")
	assert.ElementsMatch(t, []sentryevent.NamedValue{{Name: "id", Value: []byte(`"42"`)}, {Name: "email", Value: []byte(`"jane@example.com"`)}},
		decode(t, FromTraces(traces, o).Events[0]).User)
}

// TestCopiesAreCompleteOrCounted: when an attribute may not be repeated any more, a flaw counts
// each event without it, and no event has a part of its fingerprint.
func TestCopiesAreCompleteOrCounted(t *testing.T) {
	t.Parallel()
	exceptions := 8000
	if !testsize.Full() {
		exceptions = 1200
	}
	traces, spans := shop("python")
	spans[1].Attributes().PutStr("long", strings.Repeat("x", 4000))
	parts := spans[1].Attributes().PutEmptySlice("sentry.fingerprint")
	parts.AppendEmpty().SetStr("a")
	parts.AppendEmpty().SetStr(strings.Repeat("b", 190))
	for i := range exceptions {
		fail(spans[1], fmt.Sprintf("E%d", i), "failed", "")
	}
	export := FromTraces(traces, options())
	without := map[string]int{}
	for _, event := range export.Events {
		e := decode(t, event)
		if len(e.Fingerprint) == 0 {
			without["fingerprint"]++
		} else {
			require.Len(t, e.Fingerprint, 2)
		}
		if len(e.Extra) == 0 {
			without["extra"]++
		}
	}
	require.NotZero(t, without["extra"])
	flaws := map[string]int{}
	for _, flaw := range export.Flaws {
		flaws[flaw.Field] = flaw.Count
	}
	assert.Equal(t, without["extra"], flaws["extra"])
	assert.Equal(t, without["fingerprint"], flaws["fingerprint"])
}

func TestSelection(t *testing.T) {
	handled := func(span ptrace.Span, _ ptrace.SpanEvent) { span.Status().SetCode(ptrace.StatusCodeUnset) }
	for name, test := range map[string]struct {
		from   Selection
		edit   func(ptrace.Span, ptrace.SpanEvent)
		reason discard.Reason // "" = it becomes an event
	}{
		"status Error":                {from: Unhandled},
		"status Error, escaped False": {from: Unhandled, edit: func(_ ptrace.Span, e ptrace.SpanEvent) { e.Attributes().PutStr("exception.escaped", "False") }},
		"escaped": {from: Unhandled, edit: func(s ptrace.Span, e ptrace.SpanEvent) {
			handled(s, e)
			e.Attributes().PutBool("exception.escaped", true)
		}},
		"handled":                      {from: Unhandled, edit: handled, reason: ReasonHandled},
		"handled, all":                 {from: All, edit: handled},
		"span of an SDK of Sentry":     {from: All, edit: func(s ptrace.Span, _ ptrace.SpanEvent) { s.Attributes().PutStr("sentry.origin", "auto.http") }, reason: ReasonSentrySDK},
		"span without ID":              {from: All, edit: func(s ptrace.Span, _ ptrace.SpanEvent) { s.SetSpanID(pcommon.SpanID{}) }, reason: ReasonNoTrace},
		"message only":                 {from: All, edit: func(_ ptrace.Span, e ptrace.SpanEvent) { e.Attributes().Remove("exception.type") }},
		"no time, that of the span":    {from: All, edit: func(_ ptrace.Span, e ptrace.SpanEvent) { e.SetTimestamp(0) }},
		"another name of the event":    {from: All, edit: func(_ ptrace.Span, e ptrace.SpanEvent) { e.SetName("failure") }},
		"no stack, type and message":   {from: All, edit: func(_ ptrace.Span, e ptrace.SpanEvent) { e.Attributes().Remove("exception.stacktrace") }},
		"a stack that no parser reads": {from: All, edit: func(_ ptrace.Span, e ptrace.SpanEvent) { e.Attributes().PutStr("exception.stacktrace", "somewhere") }},
	} {
		t.Run(name, func(t *testing.T) {
			traces, spans := shop("python")
			event := fail(spans[1], "PaymentError", "declined", python("charge"))
			if test.edit != nil {
				test.edit(spans[1], event)
			}
			o := options()
			o.FromSpans = test.from
			export := FromTraces(traces, o)
			if test.reason != "" {
				assert.Empty(t, export.Events)
				assert.Equal(t, []discard.Loss{{Reason: test.reason, Count: 1}}, export.Lost)
				return
			}
			require.Len(t, export.Events, 1)
			assert.Empty(t, export.Lost)
			e := decode(t, export.Events[0])
			if name == "a stack that no parser reads" {
				assert.Nil(t, e.Exceptions[0].Stacktrace)
				assert.JSONEq(t, `{"stacktrace":"somewhere"}`, string(e.Extra))
			}
			o.FromSpans = None
			assert.Empty(t, FromTraces(traces, o))
		})
	}
}

// TestResourceOfASentrySDK: the SDK has sent the exceptions as events.
func TestResourceOfASentrySDK(t *testing.T) {
	traces, spans := shop("python")
	fail(spans[1], "PaymentError", "declined", "")
	resource := traces.ResourceSpans().At(0).Resource().Attributes()
	resource.PutStr("telemetry.sdk.name", "sentry.python")
	assert.Equal(t, []discard.Loss{{Reason: ReasonSentrySDK, Count: 1}}, FromTraces(traces, options()).Lost)
	o := options()
	o.SkipIfSentrySDK = false
	assert.Len(t, FromTraces(traces, o).Events, 1)
}

// TestEveryLanguage: traces of all languages in package stacktext become events that Sentry
// accepts, with application frames and chained causes.
func TestEveryLanguage(t *testing.T) {
	languages := map[string]string{
		"python": "python", "java": "java", "v8": "nodejs", "firefox": "webjs", "safari": "webjs", "dotnet": "dotnet", "go": "go", "ruby": "ruby",
		"php": "php", "rust": "rust", "cpp": "cpp", "elixir": "erlang",
	}
	var lines []byte
	for folder, language := range languages {
		paths, err := filepath.Glob(filepath.Join("..", "..", "format", "stacktext", "testdata", folder, "*.txt"))
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			stack, err := os.ReadFile(path)
			require.NoError(t, err)
			traces, spans := shop(language)
			fail(spans[2], "shop.Error", "failed", string(stack))
			export := FromTraces(traces, options())
			require.Len(t, export.Events, 1, path)
			e := decode(t, export.Events[0])
			thrown := e.Exceptions[len(e.Exceptions)-1]
			require.NotNil(t, thrown.Stacktrace, path)
			if folder != "java" { // the project's settings decide
				var application bool
				for _, f := range thrown.Stacktrace.Frames {
					require.True(t, f.InApp.Set, path)
					application = application || f.InApp.Value
				}
				assert.True(t, application, "%s has no application frame", path)
			}
			lines = append(append(lines, export.Events[0].Payload...), '\n')
		}
	}
	if file := os.Getenv("EVENTS"); file != "" { // writes the events for other checkers
		require.NoError(t, os.WriteFile(file, lines, 0o644))
	}
}

func TestPaths(t *testing.T) {
	for file, want := range map[string][2]string{
		"/app/shop.py":                        {"/app/shop.py", "/app/shop.py"},
		"shop.rb":                             {"", "shop.rb"},
		"/usr/lib/python3.11/json/decoder.py": {"/usr/lib/python3.11/json/decoder.py", "json/decoder.py"},
		"/venv/lib/python3.11/site-packages/flask/app.py": {"/venv/lib/python3.11/site-packages/flask/app.py", "flask/app.py"},
		"file:///app/shop.mjs":                            {"/app/shop.mjs", "/app/shop.mjs"},
		"https://shop.example/app.js":                     {"https://shop.example/app.js", "https://shop.example/app.js"},
		`C:\app\Shop.cs`:                                  {`C:\app\Shop.cs`, `C:\app\Shop.cs`},
		"":                                                {"", ""},
	} {
		abs, name := paths(file)
		assert.Equal(t, want, [2]string{abs, name}, file)
	}
}

// TestGroups: failures whose messages contain IDs have one group of type and application frames for
// each place that throws, and one kind.
func TestGroups(t *testing.T) {
	t.Parallel()
	const sites = 7
	failures := scaled(1000)
	for language, stack := range map[string]func(site, id int) string{
		"python": func(site, id int) string {
			return fmt.Sprintf("Traceback (most recent call last):\n  File \"/app/view.py\", line 3, in view\n    serve()\n"+
				"  File \"/app/shop.py\", line %d, in site%d\n    fail()\nOrderError: order %d failed\n", site+10, site, id)
		},
		"java": func(site, id int) string {
			return fmt.Sprintf("OrderError: order %d failed\n\tat shop.Cart.site%d(Cart.java:%d)\n\tat shop.View.view(View.java:3)\n", id, site, site+10)
		},
		"nodejs": func(site, id int) string {
			return fmt.Sprintf("OrderError: order %d failed\n    at site%d (/app/shop.js:%d:5)\n    at view (/app/view.js:3:1)\n", id, site, site+10)
		},
		"dotnet": func(site, id int) string {
			return fmt.Sprintf("OrderError: order %d failed\n   at Shop.Cart.Site%d(Int32 id) in /app/Shop.cs:line %d\n   at Shop.View.Show()\n", id, site, site+10)
		},
		"go": func(site, id int) string {
			return fmt.Sprintf("goroutine %d [running]:\nmain.site%d(0x%x)\n\t/app/shop.go:%d +0x1f\nmain.view(0x%x)\n\t/app/view.go:3 +0x2f\n", id+1, site, id, site+10, id)
		},
		"ruby": func(site, id int) string {
			return fmt.Sprintf("/app/shop.rb:%d:in `site%d': order %d failed (OrderError)\n\tfrom /app/view.rb:3:in `view'\n", site+10, site, id)
		},
		"php": func(site, id int) string {
			return fmt.Sprintf("OrderError: order %d failed in /app/shop.php:%d\nStack trace:\n#0 /app/view.php(3): site%d(%d)\n#1 {main}\n", id, site+10, site, id)
		},
	} {
		kinds, groups := map[string]bool{}, map[string]bool{}
		for i := range failures {
			traces, spans := shop(language)
			fail(spans[2], "OrderError", fmt.Sprintf("order %d failed", i), stack(i%sites, i))
			events := FromTraces(traces, options()).Events
			require.Len(t, events, 1)
			kinds[events[0].Kind] = true
			thrown := decode(t, events[0]).Exceptions[0]
			require.Contains(t, thrown.Value, fmt.Sprint(i))
			group := thrown.Type
			for _, f := range thrown.Stacktrace.Frames {
				if f.InApp.Value || !f.InApp.Set {
					group += fmt.Sprintf("|%s %s %s:%d", f.Module, f.Function, f.Filename, f.Line)
				}
			}
			require.Contains(t, group, "|", language)
			groups[group] = true
		}
		assert.Len(t, groups, sites, language)
		assert.Len(t, kinds, sites, language)
	}
}

// TestLongAttributes: an event has at most 128 other attributes of 4 KiB each, and tags of at most
// 200 characters.
func TestLongAttributes(t *testing.T) {
	traces, spans := shop("java")
	for i := range 200 {
		spans[1].Attributes().PutStr(fmt.Sprint("long", i), strings.Repeat("x", maxExtra+1))
	}
	spans[1].Attributes().PutStr(DefaultTags[1], strings.Repeat("t", 200))
	spans[1].Attributes().PutStr(DefaultTags[2], strings.Repeat("t", 201))
	fail(spans[1], "E", "failed", "")
	o := options()
	o.IncludePII = true
	e := decode(t, FromTraces(traces, o).Events[0])
	require.Len(t, e.Tags, 1)
	require.Len(t, e.Tags[0].Value, 200)
	var extra map[string]string
	require.NoError(t, json.Unmarshal(e.Extra, &extra))
	require.Len(t, extra, 128)
	for _, text := range extra {
		require.LessOrEqual(t, len(text), 4<<10)
	}
}

// TestOutputIsBounded: one long attribute and many exceptions, a long stack and many exceptions,
// many breadcrumbs.
func TestOutputIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	deep := "E: x\n" + strings.Repeat("\tat a.B.c(D.java:1)\n", 300) + strings.Repeat("Caused by: E: y\n\tat a.B.c(D.java:1)\n\t... 300 more\n", 49)
	for name, fill := range map[string]func(spans []ptrace.Span){
		"attribute": func(spans []ptrace.Span) {
			for i := range 100 {
				spans[1].Attributes().PutStr(fmt.Sprintf("long%d", i), long[:10_000])
			}
		},
		"request": func(spans []ptrace.Span) { spans[0].Attributes().PutStr("url.full", long) },
		"fragment": func(spans []ptrace.Span) {
			spans[0].Attributes().PutStr("url.full", "https://shop.example/")
			spans[0].Attributes().PutStr("url.fragment", long[:50_000])
		},
		"escapes":     func(spans []ptrace.Span) { spans[0].Attributes().PutStr("url.full", strings.Repeat("\x01", 8000)) },
		"user":        func(spans []ptrace.Span) { spans[1].Attributes().PutStr("user.id", long[:50_000]) },
		"user member": func(spans []ptrace.Span) { spans[1].Attributes().PutStr("sentry.user."+long[:50_000], "x") },
		"short attributes": func(spans []ptrace.Span) {
			for _, key := range DefaultTags {
				spans[1].Attributes().PutStr(key, long[:200])
			}
			parts := spans[1].Attributes().PutEmptySlice("sentry.fingerprint")
			for range 20 {
				parts.AppendEmpty().SetStr(long[:200])
			}
		},
		"message": func(spans []ptrace.Span) { fail(spans[1], "E", long, long) },
		"stack":   func(spans []ptrace.Span) { fail(spans[1], "E", "x", deep) },
		"crumbs": func(spans []ptrace.Span) {
			for range 1000 {
				spans[1].Events().AppendEmpty().SetName(long[:200])
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			traces, spans := shop("java")
			fill(spans)
			exceptions := scaled(2000)
			if name == "short attributes" || name == "escapes" {
				exceptions = scaled(20_000)
			}
			for i := range exceptions {
				stack := ""
				if name == "stack" {
					stack = strings.Replace(deep, "D.java:1", fmt.Sprintf("D.java:%d", i+2), 1)
				}
				fail(spans[1], fmt.Sprintf("E%d", i), "failed", stack)
			}
			o := options()
			o.IncludePII = true // so that nothing is removed
			export := FromTraces(traces, o)
			require.GreaterOrEqual(t, len(export.Events), exceptions)
			total := 0
			for _, e := range export.Events {
				total += len(e.Payload)
				require.LessOrEqual(t, len(e.Payload), sentry.MaxOutgoingEvent)
			}
			for _, i := range []int{0, len(export.Events) / 2, len(export.Events) - 1} {
				decode(t, export.Events[i])
			}
			size := len(marshal(t, traces))
			t.Logf("%d bytes become %d, %.2f of the bound", size, total, float64(total)/float64(attr.ExportBound(size)))
			assert.LessOrEqual(t, total, attr.ExportBound(size), "%d bytes of %d", total, size)
		})
	}
}

// scaled returns how many failures a test needs in small size, if it has n in full size.
func scaled(n int) int {
	if testsize.Full() {
		return n
	}
	return n / 10
}

func marshal(t testing.TB, traces ptrace.Traces) string {
	data, err := new(ptrace.ProtoMarshaler).MarshalTraces(traces)
	require.NoError(t, err)
	return string(data)
}
