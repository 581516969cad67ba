// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Items that are no profiles, with pipelines for all signals. None is answered with an error if it is an item at all: SDKs would
// drop its neighbours.
var itemAttacks = []attack{
	item("a session with two hundred thousand aggregates", "sessions", memoryLarge, func() string {
		return `{"aggregates":[` + list(200_000, func(b []byte, i int) []byte {
			return fmt.Appendf(b, `{"started":%d,"exited":1,"did":"%d"}`, 1700000000+i, i)
		}) + `]}`
	}),
	item("sessions {}", "sessions", memoryLarge, func() string { return `{"aggregates":[` + times(3*million, `{}`) + `]}` }),
	item("logs {}", "log", memoryLarge, func() string { return `{"version":2,"items":[` + times(4*million, `{}`) + `]}` }),
	item("a hundred thousand logs of one letter", "log", memoryLarge, func() string {
		return `{"version":2,"items":[` + times(100_000, `{"timestamp":1700000000,"level":"info","body":"x","trace_id":"`+testTrace+`"}`) + `]}`
	}),
	item("a log with a hundred thousand attributes", "log", memoryLarge, func() string {
		return `{"version":2,"items":[{"timestamp":1700000000,"level":"info","body":"x","attributes":{` +
			list(100_000, numbered(`"k`, `":{"type":"integer","value":1}`)) + `}}]}`
	}),
	item("metrics with a hundred thousand names", "trace_metric", memoryLarge, func() string {
		return `{"version":2,"items":[` + list(100_000, numbered(`{"timestamp":1700000000,"type":"counter","value":1,"name":"m`, `"}`)) + `]}`
	}),
	item("metrics with extreme numbers", "trace_metric", memorySmall, func() string {
		return `{"version":2,"items":[{"timestamp":1e308,"type":"distribution","value":1e999,"name":"a"},{"timestamp":-1,"type":"counter","value":-1e308,"name":"a"},` +
			`{"timestamp":1700000000,"type":"distribution","value":5e-324,"name":"b"},{"timestamp":1700000000,"type":"distribution","value":1.7e308,"name":"b"}]}`
	}),
	item("spans {}", "span", memoryLarge, func() string { return `{"version":2,"items":[` + times(4*million, `{}`) + `]}` }),
	item("a transaction of six hundred thousand spans {}", "transaction", memoryLarge, func() string {
		return `{"type":"transaction","start_timestamp":1700000000,"timestamp":1700000001,"contexts":{"trace":{"trace_id":"` + testTrace +
			`","span_id":"6f1b2c3d4e5f6071"}},"spans":[` + times(600_000, `{}`) + `]}`
	}),
	item("a transaction of twelve thousand spans, each the parent of the next", "transaction", memoryLarge, func() string {
		return `{"type":"transaction","start_timestamp":1700000000,"timestamp":1700000001,"contexts":{"trace":{"trace_id":"` + testTrace +
			`","span_id":"0000000000000001"}},"spans":[` + list(12_000, func(b []byte, i int) []byte {
			return fmt.Appendf(b, `{"trace_id":"%s","span_id":"%016x","parent_span_id":"%016x","start_timestamp":1700000000,"timestamp":1700000001}`, testTrace, i+2, i+1)
		}) + `]}`
	}),
	item("an event with half a million exceptions", "event", memoryLarge, func() string { return `{"exception":{"values":[` + times(500_000, `{}`) + `]}}` }),
	item("an event with half a million breadcrumbs", "event", memoryLarge, func() string { return `{"breadcrumbs":[` + times(500_000, `{}`) + `]}` }),
	item("an event with a hundred thousand tags", "event", memoryLarge, func() string {
		return `{"tags":{` + list(100_000, numbered(`"k`, `":"v"`)) + `}}`
	}),
	item("an event with a hundred contexts of 100 levels", "event", memoryLarge, func() string {
		return `{"contexts":{` + list(100, numbered(`"c`, `":{"a":`+nested(100)+`}`)) + `}}`
	}),
	item("an event with a stack of fifty thousand frames", "event", memoryLarge, func() string {
		return `{"exception":{"values":[{"stacktrace":{"frames":[` + times(50_000, `{"function":"f","lineno":1}`) + `]}}]}}`
	}),
	{name: "an event with a message of 60 MB", status: http.StatusRequestEntityTooLarge, memory: memoryLimit, signals: otherSignals, request: func() request {
		return envelopeOf("event", `{"message":"`+strings.Repeat("m", 60<<20)+`"}`)
	}},
	item("a client report with thirty thousand reasons", "client_report", memoryLarge, func() string {
		return `{"discarded_events":[` + list(30_000, func(b []byte, i int) []byte {
			return fmt.Appendf(b, `{"reason":"r%d","category":"c%d","quantity":4294967295}`, i, i)
		}) + `]}`
	}),
	item("a check-in with a path as monitor", "check_in", memorySmall, func() string {
		return `{"check_in_id":"../../etc","monitor_slug":"../../../../etc/passwd","status":"ok","duration":1e308}`
	}),
	item("an attachment of 90 MB", "attachment", memoryLimit, func() string { return strings.Repeat("\x00\n", 45<<20) }),
	item("names with newlines and escapes", "\\n2026-01-01T00:00:00Z\\terror\\tforged \\u001b[31m", memorySmall, func() string { return `{}` }),
	{name: "a thousand check-ins of different monitors", status: http.StatusOK, memory: memorySmall, signals: otherSignals, request: func() request {
		var b strings.Builder
		b.WriteString("{}\n")
		for i := range 1000 {
			fmt.Fprintf(&b, "{\"type\":\"check_in\"}\n{\"check_in_id\":\"%s\",\"monitor_slug\":\"m%d\",\"status\":\"ok\",\"environment\":\"e%d\"}\n", newID(), i, i)
		}
		return envelope([]byte(b.String()))
	}},
	{name: "a minidump of 90 MB", status: http.StatusNotFound, reason: "not_found", memory: memoryLimit, signals: otherSignals, request: func() request {
		r := request{target: "/api/42/minidump/?sentry_key=" + testKey, headers: [][2]string{{"Content-Type", "multipart/form-data; boundary=x"}}}
		r.body = append([]byte("--x\r\nContent-Disposition: form-data; name=\"upload_file_minidump\"; filename=\"../../x.dmp\"\r\n\r\nMDMP"), make([]byte, 90<<20)...)
		return r
	}},
	{name: "store: base64 of a zlib bomb", status: http.StatusRequestEntityTooLarge, reason: "body_too_large", memory: memoryLimit, signals: otherSignals, request: func() request {
		return request{target: "/api/42/store/?sentry_key=" + testKey, body: []byte(base64.StdEncoding.EncodeToString(deflateBomb()))}
	}},
	{name: "store: gzip of base64 of a zlib bomb", status: http.StatusRequestEntityTooLarge, reason: "body_too_large", memory: memoryLimit, signals: otherSignals, request: func() request {
		return request{target: "/api/42/store/?sentry_key=" + testKey, body: zipped([]byte(base64.StdEncoding.EncodeToString(deflateBomb())))}.encoded("gzip")
	}},
	{name: "store: an event in a query of half a megabyte", status: http.StatusRequestHeaderFieldsTooLarge, memory: memorySmall, signals: otherSignals, request: func() request {
		return request{method: http.MethodGet, target: "/api/42/store/?sentry_key=" + testKey + "&sentry_data=" + url.QueryEscape(`{"message":"`+strings.Repeat("m", 1<<19)+`"}`)}
	}},
	{name: "security: three million reports", status: http.StatusBadRequest, reason: "body_invalid", memory: memorySmall, signals: otherSignals, request: func() request {
		return request{target: "/api/42/security/?sentry_key=" + testKey, headers: [][2]string{{"Content-Type", "application/reports+json"}},
			body: []byte(`[` + times(3*million, `{}`) + `]`)}
	}},
	{name: "a path of one megabyte", status: http.StatusRequestHeaderFieldsTooLarge, memory: memorySmall, signals: otherSignals, request: func() request {
		return request{target: "/api/" + strings.Repeat("../42/", 150_000), body: []byte("{}")}
	}},
	{name: "a path as project", status: http.StatusNotFound, memory: memorySmall, signals: otherSignals, request: func() request {
		r := chunk{}.request()
		r.target = "/api/..%2f..%2fetc%2fpasswd/envelope/"
		return r
	}},
	{name: "a project with a million digits", status: http.StatusRequestHeaderFieldsTooLarge, memory: memorySmall, signals: otherSignals, request: func() request {
		r := chunk{}.request()
		r.target = "/api/" + strings.Repeat("9", 900_000) + "/envelope/"
		return r
	}},
	{name: "a DSN of another host", status: http.StatusOK, memory: memorySmall, observations: 1, signals: otherSignals, request: func() request {
		r := chunk{}.request()
		r.body = bytes.Replace(r.body, []byte("{"), []byte(`{"dsn":"http://`+testKey+`@169.254.169.254/42",`), 1)
		return r
	}},
}

// item is an attack by one item of a type.
func item(name, kind string, memory int, payload func() string) attack {
	return attack{name: name, status: http.StatusOK, memory: memory, signals: otherSignals, request: func() request { return envelopeOf(kind, payload()) }}
}
