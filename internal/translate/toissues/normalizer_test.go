// SPDX-License-Identifier: Apache-2.0

package toissues

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/relaytest"
)

// TestNormalizer: Sentry's own processing finds no error in any event and moves nothing to _meta,
// whatever values the attributes have.
func TestNormalizer(t *testing.T) {
	relaytest.Python(t)
	stacks := recordedStacks(t)
	random := rand.New(rand.NewPCG(19, 5))
	o := options()
	o.FromSpans, o.FromLogs, o.IncludePII = All, All, true
	var payloads [][]byte
	for i := range 300 {
		stack := stacks[i%len(stacks)]
		traces, spans := shop(stack.language)
		event := fail(spans[2], "shop.Error", "failed", stack.text)
		logs := plog.NewLogs()
		record := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		event.Attributes().CopyTo(record.Attributes())
		if i >= len(stacks) { // the first ones have usual attributes only
			randomAttributes(random, traces.ResourceSpans().At(0).Resource().Attributes())
			for _, span := range spans {
				randomAttributes(random, span.Attributes())
				span.SetName(fmt.Sprint(randomValue(random)))
			}
			randomAttributes(random, event.Attributes())
			randomAttributes(random, record.Attributes())
			record.SetTraceID(pcommon.TraceID{1, 2})
			record.SetSpanID(pcommon.SpanID{byte(i % 2)})
			record.SetSeverityNumber(plog.SeverityNumber(random.IntN(26)))
			record.Body().SetStr(fmt.Sprint(randomValue(random)))
			spans[0].Events().AppendEmpty().SetName(fmt.Sprint(randomValue(random)))
		}
		traces.ResourceSpans().At(0).Resource().CopyTo(logs.ResourceLogs().At(0).Resource())
		for _, export := range []Export{FromTraces(traces, o), FromLogs(logs, o)} {
			for _, e := range export.Events {
				payloads = append(payloads, e.Payload)
			}
		}
	}
	require.Greater(t, len(payloads), 500)
	seen := map[string]bool{} // by metadata: one event each
	for i, r := range relaytest.Normalize(t, payloads) {
		if !seen[string(r.Meta)] && len(seen) < 20 {
			seen[string(r.Meta)] = true
			assert.Empty(t, r.Errors, "%.3000s", payloads[i])
			assert.Equal(t, "null", string(r.Meta), "%.3000s", payloads[i])
		}
	}
	t.Logf("%d events", len(payloads))
}

type recordedStack struct{ language, text string }

// recordedStacks are the stack traces of package stacktext.
func recordedStacks(t testing.TB) (stacks []recordedStack) {
	languages := map[string]string{"v8": "nodejs", "firefox": "webjs", "safari": "webjs", "elixir": "erlang"} // others are called as their folder
	paths, err := filepath.Glob(filepath.Join("..", "..", "format", "stacktext", "testdata", "*", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		language := filepath.Base(filepath.Dir(path))
		if other, known := languages[language]; known {
			language = other
		}
		stacks = append(stacks, recordedStack{language, string(text)})
	}
	return stacks
}

// attributeKeys are those that become a field of the event, and some others.
var attributeKeys = []string{
	"exception.type", "exception.message", "exception.escaped", "exception.stacktrace", "exception.id", "error.type",
	"service.name", "service.version", "service.instance.id", "deployment.environment.name", "deployment.environment", "host.name",
	"telemetry.sdk.name", "telemetry.sdk.version", "telemetry.sdk.language", "sentry.release", "sentry.dist", "sentry.environment",
	"sentry.fingerprint", "sentry.message.template", "{OriginalFormat}", "sentry.op",
	"http.request.method", "http.route", "url.full", "url.scheme", "url.path", "url.query", "server.address", "server.port",
	"http.request.header.cookie", "http.request.header.x-request-id", "http.request.header.authorization", "http.request.body.size",
	"http.response.status_code", "user.id", "user.name", "user.email", "user.full_name", "enduser.id", "client.address",
	"thread.id", "thread.name", "code.function.name", "rpc.system", "db.system.name", "shop.order", "a b\nc", "", "trace", "otel",
	strings.Repeat("k", 300),
}

func randomAttributes(random *rand.Rand, attributes pcommon.Map) {
	for range random.IntN(8) {
		key := attributeKeys[random.IntN(len(attributeKeys))]
		_ = attributes.PutEmpty(key).FromRaw(randomValue(random))
	}
}

func randomValue(random *rand.Rand) any {
	values := []any{
		"", " ", "GET", "a\nb", "a\r\n\tb", "\x00\x01", "\u2028\ufeff", "null", "-1", "1.5", "true", "1.2.3.4", "::1", "a@b.example", "/", "..", "latest",
		"https://shop.example/cart?id=17#top", "://", "a=b; c=d", "shop@1.0", "production/eu", "日本語", strings.Repeat("x", 201), strings.Repeat("x", 70_000),
		strings.Repeat("a b", 300), "bad \xff utf-8",
		true, false, int64(0), int64(-1), int64(math.MaxInt64), int64(math.MinInt64), 1.5, math.NaN(), math.Inf(-1), math.MaxFloat64, 5e-324,
		[]any{}, []any{"a", nil, int64(1), []any{"b"}}, map[string]any{}, map[string]any{"a": map[string]any{"b": "c\n"}, "": nil, "x y": 1.5}, []byte{0, 255},
		nil, deepValue(30),
	}
	return values[random.IntN(len(values))]
}

func deepValue(depth int) any {
	if depth == 0 {
		return "end"
	}
	return map[string]any{"in": deepValue(depth - 1)}
}
