// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// Items other than profiles, with pipelines for all signals. The receiver answers every valid item
// without an error, because SDKs would otherwise drop the other items of the envelope.
var itemAttacks = []attack{
	item("200,000 session aggregates", "sessions", memoryLarge, func() string {
		return `{"aggregates":[` + harness.List(200_000, func(b []byte, i int) []byte {
			return fmt.Appendf(b, `{"started":%d,"exited":1,"did":"%d"}`, 1700000000+i, i)
		}) + `]}`
	}),
	tooHeavy("3 million empty session aggregates", "sessions", memoryLarge, func() string { return `{"aggregates":[` + times(3*million, `{}`) + `]}` }),
	tooHeavy("4 million empty logs", "log", memoryLarge, func() string { return `{"version":2,"items":[` + times(4*million, `{}`) + `]}` }),
	item("100,000 logs with a one-letter body", "log", memoryLarge, func() string {
		return `{"version":2,"items":[` + times(100_000, `{"timestamp":1700000000,"level":"info","body":"x","trace_id":"`+testTrace+`"}`) + `]}`
	}),
	item("a log with 100,000 attributes", "log", memoryLarge, func() string {
		return `{"version":2,"items":[{"timestamp":1700000000,"level":"info","body":"x","attributes":{` +
			harness.List(100_000, harness.Numbered(`"k`, `":{"type":"integer","value":1}`)) + `}}]}`
	}),
	item("100,000 metrics with different names", "trace_metric", memoryLarge, func() string {
		return `{"version":2,"items":[` + harness.List(100_000, harness.Numbered(`{"timestamp":1700000000,"type":"counter","value":1,"name":"m`, `"}`)) + `]}`
	}),
	item("metrics with extreme numbers", "trace_metric", memorySmall, func() string {
		return `{"version":2,"items":[{"timestamp":1e308,"type":"distribution","value":1e999,"name":"a"},{"timestamp":-1,"type":"counter","value":-1e308,"name":"a"},` +
			`{"timestamp":1700000000,"type":"distribution","value":5e-324,"name":"b"},{"timestamp":1700000000,"type":"distribution","value":1.7e308,"name":"b"}]}`
	}),
	tooHeavy("4 million empty spans", "span", memoryLarge, func() string { return `{"version":2,"items":[` + times(4*million, `{}`) + `]}` }),
	tooHeavy("a transaction with 600,000 empty spans", "transaction", memoryLarge, func() string {
		return `{"type":"transaction","start_timestamp":1700000000,"timestamp":1700000001,"contexts":{"trace":{"trace_id":"` + testTrace +
			`","span_id":"6f1b2c3d4e5f6071"}},"spans":[` + times(600_000, `{}`) + `]}`
	}),
	item("a transaction with 12,000 spans, each the parent of the next", "transaction", memoryLarge, func() string {
		return `{"type":"transaction","start_timestamp":1700000000,"timestamp":1700000001,"contexts":{"trace":{"trace_id":"` + testTrace +
			`","span_id":"0000000000000001"}},"spans":[` + harness.List(12_000, func(b []byte, i int) []byte {
			return fmt.Appendf(b, `{"trace_id":"%s","span_id":"%016x","parent_span_id":"%016x","start_timestamp":1700000000,"timestamp":1700000001}`, testTrace, i+2, i+1)
		}) + `]}`
	}),
	tooHeavy("an event with 500,000 exceptions", "event", memoryLarge, func() string { return `{"exception":{"values":[` + times(500_000, `{}`) + `]}}` }),
	tooHeavy("an event with 500,000 breadcrumbs", "event", memoryLarge, func() string { return `{"breadcrumbs":[` + times(500_000, `{}`) + `]}` }),
	item("an event with 100,000 tags", "event", memoryLarge, func() string {
		return `{"tags":{` + harness.List(100_000, harness.Numbered(`"k`, `":"v"`)) + `}}`
	}),
	item("an event with 100 contexts, each nested 100 levels deep", "event", memoryLarge, func() string {
		return `{"contexts":{` + harness.List(100, harness.Numbered(`"c`, `":{"a":`+nested(100)+`}`)) + `}}`
	}),
	item("an event with a stack of 50,000 frames", "event", memoryLarge, func() string {
		return `{"exception":{"values":[{"stacktrace":{"frames":[` + times(50_000, `{"function":"f","lineno":1}`) + `]}}]}}`
	}),
	{name: "an event with a message of 60 MiB", status: http.StatusRequestEntityTooLarge, memory: memoryLimit, signals: harness.OtherSignals, request: func() harness.Request {
		return harness.ItemRequest("event", `{"message":"`+strings.Repeat("m", 60<<20)+`"}`)
	}},
	item("a client report with 30,000 reasons", "client_report", memoryLarge, func() string {
		return `{"discarded_events":[` + harness.List(30_000, func(b []byte, i int) []byte {
			return fmt.Appendf(b, `{"reason":"r%d","category":"c%d","quantity":4294967295}`, i, i)
		}) + `]}`
	}),
	item("a check-in with a path as the monitor slug", "check_in", memorySmall, func() string {
		return `{"check_in_id":"../../etc","monitor_slug":"../../../../etc/passwd","status":"ok","duration":1e308}`
	}),
	item("an attachment of 90 MiB", "attachment", memoryLimit, func() string { return strings.Repeat("\x00\n", 45<<20) }),
	item("an item type with newlines and escape sequences", "\\n2026-01-01T00:00:00Z\\terror\\tforged \\u001b[31m", memorySmall, func() string { return `{}` }),
	{name: "1,000 check-ins for different monitors", status: http.StatusOK, memory: memorySmall, signals: harness.OtherSignals, request: func() harness.Request {
		var b strings.Builder
		b.WriteString("{}\n")
		for i := range 1000 {
			fmt.Fprintf(&b, "{\"type\":\"check_in\"}\n{\"check_in_id\":\"%s\",\"monitor_slug\":\"m%d\",\"status\":\"ok\",\"environment\":\"e%d\"}\n", harness.NewID(), i, i)
		}
		return harness.EnvelopeRequest([]byte(b.String()))
	}},
	{name: "a minidump of 90 MiB", status: http.StatusNotFound, reason: "not_found", memory: memoryLimit, signals: harness.OtherSignals, request: func() harness.Request {
		r := harness.Request{Target: "/api/42/minidump/?sentry_key=" + harness.TestKey, Headers: [][2]string{{"Content-Type", "multipart/form-data; boundary=x"}}}
		r.Body = append([]byte("--x\r\nContent-Disposition: form-data; name=\"upload_file_minidump\"; filename=\"../../x.dmp\"\r\n\r\nMDMP"), make([]byte, 90<<20)...)
		return r
	}},
	{name: "store: a zlib bomb in base64", status: http.StatusRequestEntityTooLarge, reason: "body_too_large", memory: memoryLimit, signals: harness.OtherSignals, request: func() harness.Request {
		return harness.Request{Target: "/api/42/store/?sentry_key=" + harness.TestKey, Body: []byte(base64.StdEncoding.EncodeToString(deflateBomb()))}
	}},
	{name: "store: a zlib bomb in base64, compressed with gzip", status: http.StatusRequestEntityTooLarge, reason: "body_too_large", memory: memoryLimit, signals: harness.OtherSignals, request: func() harness.Request {
		return harness.Request{Target: "/api/42/store/?sentry_key=" + harness.TestKey, Body: zipped([]byte(base64.StdEncoding.EncodeToString(deflateBomb())))}.WithEncoding("gzip")
	}},
	{name: "store: an event of 500 kB in the query string", status: http.StatusRequestHeaderFieldsTooLarge, memory: memorySmall, signals: harness.OtherSignals, request: func() harness.Request {
		return harness.Request{Method: http.MethodGet, Target: "/api/42/store/?sentry_key=" + harness.TestKey + "&sentry_data=" + url.QueryEscape(`{"message":"`+strings.Repeat("m", 1<<19)+`"}`)}
	}},
	{name: "security: 3 million reports", status: http.StatusBadRequest, reason: "body_invalid", memory: memorySmall, signals: harness.OtherSignals, request: func() harness.Request {
		return harness.Request{Target: "/api/42/security/?sentry_key=" + harness.TestKey, Headers: [][2]string{{"Content-Type", "application/reports+json"}},
			Body: []byte(`[` + times(3*million, `{}`) + `]`)}
	}},
	{name: "a path of 900 kB", status: http.StatusRequestHeaderFieldsTooLarge, memory: memorySmall, signals: harness.OtherSignals, request: func() harness.Request {
		return harness.Request{Target: "/api/" + strings.Repeat("../42/", 150_000), Body: []byte("{}")}
	}},
	{name: "a path as the project ID", status: http.StatusNotFound, memory: memorySmall, signals: harness.OtherSignals, request: func() harness.Request {
		r := harness.Chunk{}.Request()
		r.Target = "/api/..%2f..%2fetc%2fpasswd/envelope/"
		return r
	}},
	{name: "a project ID with 900,000 digits", status: http.StatusRequestHeaderFieldsTooLarge, memory: memorySmall, signals: harness.OtherSignals, request: func() harness.Request {
		r := harness.Chunk{}.Request()
		r.Target = "/api/" + strings.Repeat("9", 900_000) + "/envelope/"
		return r
	}},
	otlpAt("traces", "OTLP: 1 MB of gzip that decompresses to 1 GiB", http.StatusRequestEntityTooLarge, "body_too_large", memoryLimit, protobuf, gzipBomb),
	otlpAt("traces", "OTLP: 4 kB of gzip with 2 million empty spans", http.StatusRequestEntityTooLarge, "too_much_memory", memorySmall, protobuf, func() []byte { return zipped(emptyMessages(twoMillion, 2, 1, 2)) }),
	otlpAt("traces", "OTLP: 2 kB of gzip with a million empty spans", http.StatusOK, "", memoryLarge, protobuf, func() []byte { return zipped(emptyMessages(million, 2, 1, 2)) }),
	otlpAt("metrics", "OTLP: 1 kB of gzip with 700,000 empty histogram points", http.StatusOK, "", memoryLarge, protobuf, func() []byte { return zipped(emptyMessages(700_000, 1, 1, 2, 2, 10)) }),
	otlpAt("logs", "OTLP: 800 kB with 100,000 resources of one log record", http.StatusOK, "", memoryLarge, protobuf, func() []byte { return bytes.Repeat(emptyMessages(1, 2, 1, 2), 100_000) }),
	otlpAt("profiles", "OTLP: 4 kB of gzip with 2 million empty profiles", http.StatusRequestEntityTooLarge, "too_much_memory", memorySmall, protobuf, func() []byte { return zipped(emptyMessages(twoMillion, 2, 1, 2)) }),
	otlpAt("traces", "OTLP: 3 kB of gzip with a million empty spans in JSON", http.StatusRequestEntityTooLarge, "too_much_memory", memorySmall, "application/json", func() []byte {
		return zipped([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{}` + strings.Repeat(",{}", 1<<20) + `]}]}]}`))
	}),
	otlpAt("traces", "OTLP: JSON nested 85,000 levels deep", http.StatusRequestEntityTooLarge, "too_much_memory", memorySmall, "application/json", func() []byte { return zipped(deepJSON(85_000)) }),
	otlpAt("traces", "OTLP: nested 1.8 million levels deep", http.StatusRequestEntityTooLarge, "too_much_memory", memorySmall, protobuf, func() []byte { return zipped(deepSpan(1_800_000)) }),
	otlpAt("traces", "OTLP: nested 4,900 levels deep", http.StatusBadRequest, "invalid_otlp", memorySmall, protobuf, func() []byte { return zipped(deepSpan(4900)) }),
	{name: "an envelope with the DSN of another host", status: http.StatusOK, memory: memorySmall, observations: 1, signals: harness.OtherSignals, request: func() harness.Request {
		r := harness.Chunk{}.Request()
		r.Body = bytes.Replace(r.Body, []byte("{"), []byte(`{"dsn":"http://`+harness.TestKey+`@169.254.169.254/42",`), 1)
		return r
	}},
}

const protobuf = "application/x-protobuf"

// otlpAt returns an attack by an OTLP message at the endpoint of a DSN.
func otlpAt(signal, name string, status int, reason string, memory int, contentType string, zipped func() []byte) attack {
	return attack{name: name, status: status, reason: reason, memory: memory, signals: harness.OtherSignals, request: func() harness.Request {
		r := harness.Request{Target: "/api/42/integration/otlp/v1/" + signal + "/?sentry_key=" + harness.TestKey, Headers: [][2]string{{"Content-Type", contentType}}, Body: zipped()}
		if bytes.HasPrefix(r.Body, []byte{0x1f, 0x8b}) {
			return r.WithEncoding("gzip")
		}
		return r
	}}
}

// item returns an attack by one item of a type.
func item(name, kind string, memory int, payload func() string) attack {
	return attack{name: name, status: http.StatusOK, memory: memory, signals: harness.OtherSignals, request: func() harness.Request { return harness.ItemRequest(kind, payload()) }}
}

// tooHeavy returns an attack by an item that needs more memory than a request may use.
func tooHeavy(name, kind string, memory int, payload func() string) attack {
	a := item(name, kind, memory, payload)
	a.status, a.reason = http.StatusRequestEntityTooLarge, "too_much_memory"
	return a
}

// times returns a list of n equal elements.
func times(n int, element string) string {
	return strings.Repeat(element+",", n-1) + element
}
