// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// framed is what framing tests compare: the type and the payload.
type framed struct {
	Type    ItemType
	Payload string
}

func framedItems(e *Envelope) []framed {
	var items []framed
	for _, item := range e.Items {
		items = append(items, framed{item.Header.Type, string(item.Payload)})
	}
	return items
}

func TestReadEnvelopeFraming(t *testing.T) {
	tests := []struct {
		name   string
		body   string
		items  []framed
		reason discard.Reason // "" = none
		item   int            // number named by the error
		offset int            // byte named by the error
	}{
		// What SDKs send.
		{name: "javascript: no length, no newline at the end",
			body: "{}\n{\"type\":\"profile_chunk\"}\n{\"a\":1}", items: []framed{{"profile_chunk", `{"a":1}`}}},
		{name: "python: length and one newline at the end",
			body: "{}\n{\"type\":\"profile\",\"length\":7}\n{\"a\":1}\n", items: []framed{{"profile", `{"a":1}`}}},
		{name: "several items, both ways",
			body:  "{}\n{\"type\":\"event\"}\n{}\n{\"type\":\"attachment\",\"length\":3}\na\nb\n{\"type\":\"session\"}\n{}",
			items: []framed{{"event", "{}"}, {"attachment", "a\nb"}, {"session", "{}"}}},
		{name: "binary payload with newlines and NUL",
			body:  "{}\n{\"type\":\"attachment\",\"length\":8}\n\x00\n\n{\xff\r\n\x00\n{\"type\":\"event\"}\n{}",
			items: []framed{{"attachment", "\x00\n\n{\xff\r\n\x00"}, {"event", "{}"}}},
		{name: "payload that looks like an item",
			body:  "{}\n{\"type\":\"attachment\",\"length\":32}\n{\"type\":\"profile\",\"length\":2}\n{}\n",
			items: []framed{{"attachment", "{\"type\":\"profile\",\"length\":2}\n{}"}}},

		// No items.
		{name: "header only", body: "{}"},
		{name: "header and newline", body: "{}\n"},
		{name: "header and blank lines", body: "{}\n\n\n"},

		// Ends of the file.
		{name: "one newline at the end", body: "{}\n{\"type\":\"x\"}\na\n", items: []framed{{"x", "a"}}},
		{name: "two newlines at the end", body: "{}\n{\"type\":\"x\"}\na\n\n", items: []framed{{"x", "a"}}},
		{name: "two newlines at the end, with length",
			body: "{}\n{\"type\":\"x\",\"length\":1}\na\n\n", items: []framed{{"x", "a"}}},
		{name: "blank lines of all kinds at the end",
			body: "{}\n{\"type\":\"x\"}\na\n\r\n \t\n", items: []framed{{"x", "a"}}},
		{name: "length 0 and the end", body: "{}\n{\"type\":\"x\",\"length\":0}", items: []framed{{"x", ""}}},
		{name: "length 0 and a newline", body: "{}\n{\"type\":\"x\",\"length\":0}\n", items: []framed{{"x", ""}}},
		{name: "length 0 and an empty line", body: "{}\n{\"type\":\"x\",\"length\":0}\n\n", items: []framed{{"x", ""}}},
		{name: "length 0 and more items",
			body: "{}\n{\"type\":\"x\",\"length\":0}\n\n{\"type\":\"y\"}\nb", items: []framed{{"x", ""}, {"y", "b"}}},
		{name: "item header and the end", body: "{}\n{\"type\":\"x\"}", items: []framed{{"x", ""}}},
		{name: "item header, newline and the end", body: "{}\n{\"type\":\"x\"}\n", items: []framed{{"x", ""}}},
		{name: "empty payload without length",
			body: "{}\n{\"type\":\"x\"}\n\n{\"type\":\"y\"}\nb", items: []framed{{"x", ""}, {"y", "b"}}},

		// Carriage returns.
		{name: "CRLF after headers, length",
			body: "{}\r\n{\"type\":\"x\",\"length\":1}\r\na\n", items: []framed{{"x", "a"}}},
		{name: "CRLF throughout, length",
			body: "{}\r\n{\"type\":\"x\",\"length\":1}\r\na\r\n{\"type\":\"y\",\"length\":0}\r\n\r\n", items: []framed{{"x", "a"}, {"y", ""}}},
		{name: "CRLF throughout, no length: the CR belongs to the payload",
			body: "{}\r\n{\"type\":\"x\"}\r\na\r\n", items: []framed{{"x", "a\r"}}},
		{name: "CR at the end", body: "{}\r"},
		{name: "CR and something else", body: "{}\r{}", reason: ReasonEnvelopeMissingNewline},

		// Headers over several lines, or with white space in front.
		{name: "pretty-printed headers",
			body: "{\n  \"dsn\": \"x\"\n}\n{\n\t\"type\": \"x\",\r\n\t\"length\": 1\n}\na", items: []framed{{"x", "a"}}},
		{name: "white space before headers",
			body: " \n{}\n\n\t {\"type\":\"x\"}\na", items: []framed{{"x", "a"}}},
		{name: "braces and escapes in header text",
			body:  `{"dsn":"}\"{\\"}` + "\n" + `{"filename":"\\\"}\u007d","type":"x"}` + "\na",
			items: []framed{{"x", "a"}}},

		// Lengths that do not fit.
		{name: "length beyond the rest",
			body: "{}\n{\"type\":\"x\",\"length\":2}\na", reason: ReasonEnvelopeTruncated, item: 1, offset: 3},
		{name: "length beyond the rest, at the end of the file",
			body: "{}\n{\"type\":\"x\",\"length\":1}", reason: ReasonEnvelopeTruncated, item: 1, offset: 3},
		{name: "length beyond the rest, second item: the first is kept",
			body:  "{}\n{\"type\":\"x\"}\na\n{\"type\":\"y\",\"length\":99}\nb",
			items: []framed{{"x", "a"}}, reason: ReasonEnvelopeTruncated, item: 2, offset: 18},
		{name: "length beyond all memory",
			body: "{}\n{\"length\":9223372036854775807}\na", reason: ReasonEnvelopeTruncated, item: 1, offset: 3},
		{name: "length beyond 64 bits",
			body: "{}\n{\"length\":99999999999999999999}\na", reason: ReasonEnvelopeTruncated, item: 1, offset: 3},
		{name: "length too small",
			body: "{}\n{\"type\":\"x\",\"length\":2}\n{\"a\":1}\n", reason: ReasonEnvelopeMissingNewline, item: 1, offset: 3},

		// Lengths that are none count as absent.
		{name: "length as text", body: "{}\n{\"type\":\"x\",\"length\":\"1\"}\nabc\n", items: []framed{{"x", "abc"}}},
		{name: "length negative", body: "{}\n{\"type\":\"x\",\"length\":-1}\nabc\n", items: []framed{{"x", "abc"}}},
		{name: "length minus zero", body: "{}\n{\"type\":\"x\",\"length\":-0}\nabc\n", items: []framed{{"x", "abc"}}},
		{name: "length with fraction", body: "{}\n{\"type\":\"x\",\"length\":1.0}\nabc\n", items: []framed{{"x", "abc"}}},
		{name: "length with exponent", body: "{}\n{\"type\":\"x\",\"length\":1e0}\nabc\n", items: []framed{{"x", "abc"}}},
		{name: "length null", body: "{}\n{\"type\":\"x\",\"length\":null}\nabc\n", items: []framed{{"x", "abc"}}},
		{name: "length as a list", body: "{}\n{\"type\":\"x\",\"length\":[1]}\nabc\n", items: []framed{{"x", "abc"}}},

		// Payloads that need a length and have none.
		{name: "pretty-printed payload without length",
			body:  "{}\n{\"type\":\"x\"}\n{\n\"a\":1}\n",
			items: []framed{{"x", "{"}}, reason: ReasonEnvelopeInvalidItemHeader, item: 2, offset: 18},

		// Item headers as values: none of these is an error.
		{name: "no type", body: "{}\n{}\na", items: []framed{{"", "a"}}},
		{name: "type not text", body: "{}\n{\"type\":7}\na", items: []framed{{"", "a"}}},
		{name: "unknown type", body: "{}\n{\"type\":\"vroom\"}\na", items: []framed{{"vroom", "a"}}},
		{name: "type that is internal to Relay is unknown here, not an error",
			body: "{}\n{\"type\":\"integration\"}\na", items: []framed{{"integration", "a"}}},
		{name: "unknown keys, also twice",
			body: "{\"x\":1,\"x\":2}\n{\"y\":[],\"y\":{},\"type\":\"x\"}\na", items: []framed{{"x", "a"}}},

		// Bad streams.
		{name: "empty", body: "", reason: ReasonEnvelopeEmpty},
		{name: "blank", body: " \r\n\n", reason: ReasonEnvelopeEmpty, offset: 4},
		{name: "header is no JSON", body: "hello", reason: ReasonEnvelopeInvalidHeader},
		{name: "header is a list", body: "[]\n", reason: ReasonEnvelopeInvalidHeader},
		{name: "header is null", body: "null\n", reason: ReasonEnvelopeInvalidHeader},
		{name: "header without an end", body: "{\"dsn\":\"x\"", reason: ReasonEnvelopeInvalidHeader},
		{name: "header with an invalid value that nobody needs", body: "{\"x\":tru}\n", reason: ReasonEnvelopeInvalidHeader},
		{name: "header key twice", body: "{\"sent_at\":\"\",\"sent_at\":\"\"}\n", reason: ReasonEnvelopeInvalidHeader},
		{name: "blank after the header", body: "{} \n", reason: ReasonEnvelopeMissingNewline},
		{name: "item on the line of the header", body: "{}{\"type\":\"x\"}\n", reason: ReasonEnvelopeMissingNewline},
		{name: "event as the body: an envelope without items, like for Relay", body: `{"event_id":"x","message":"hello"}`},
		{name: "item header is no JSON", body: "{}\nhello\n", reason: ReasonEnvelopeInvalidItemHeader, item: 1, offset: 3},
		{name: "item header is a list", body: "{}\n[]\na\n", reason: ReasonEnvelopeInvalidItemHeader, item: 1, offset: 3},
		{name: "item header without an end",
			body: "{}\n{\"type\":\"x\"", reason: ReasonEnvelopeInvalidItemHeader, item: 1, offset: 3},
		{name: "item header key twice",
			body: "{}\n{\"type\":\"x\",\"length\":1,\"length\":2}\nab\n", reason: ReasonEnvelopeInvalidItemHeader, item: 1, offset: 3},
		{name: "blank after the item header",
			body: "{}\n{\"type\":\"x\"} \na\n", reason: ReasonEnvelopeMissingNewline, item: 1, offset: 3},
		{name: "header nested too deep",
			body: `{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}\n", reason: ReasonEnvelopeInvalidHeader},
		{name: "header too large",
			body: `{"x":"` + strings.Repeat("x", MaxHeaderBytes) + "\"}\n", reason: ReasonEnvelopeHeaderTooLarge},
		{name: "item header too large",
			body:   "{}\n" + `{"x":"` + strings.Repeat("x", MaxHeaderBytes) + "\"}\n",
			reason: ReasonEnvelopeHeaderTooLarge, item: 1, offset: 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, err := ReadEnvelope([]byte(test.body))
			require.NotNil(t, e)
			assert.Equal(t, test.items, framedItems(e))
			if test.reason == "" {
				require.NoError(t, err)
				return
			}
			var bad *EnvelopeError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, test.reason, bad.Reason, bad)
			assert.Equal(t, test.item, bad.Item, bad)
			assert.Equal(t, test.offset, bad.Offset, bad)
			assert.Less(t, len(bad.Error()), 300)
		})
	}
}

func TestEnvelopeErrorText(t *testing.T) {
	_, err := ReadEnvelope([]byte("{}\n{\"type\":\"x\"}\na\n{\"type\":\"y\",\"length\":99}\nb"))
	for _, fact := range []string{"envelope_truncated", "item 2 ", "byte 18", "99", "1 bytes"} {
		assert.ErrorContains(t, err, fact)
	}
	_, err = ReadEnvelope([]byte("[]"))
	for _, fact := range []string{"envelope_invalid_header", "byte 0", "'{'"} {
		assert.ErrorContains(t, err, fact)
	}
}

func TestReadEnvelopeHeader(t *testing.T) {
	sent := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, text)
		require.NoError(t, err)
		return at.UTC()
	}
	tests := []struct {
		name string
		body string
		want EnvelopeHeader
	}{
		{"python, profile chunk", `{}`, EnvelopeHeader{}},
		{"go",
			`{"event_id":"2c61c8c09e7c4cb8ac9ce7de6569b346","sent_at":"2026-11-21T01:20:51.411181527Z",` +
				`"dsn":"http://8f3d1c0a9b7e4d52a1c6f0e3b2d49871@127.0.0.1:58733/4507","sdk":{"name":"sentry.go.http","version":"0.27.0",` +
				`"integrations":["Modules"],"packages":[{"name":"sentry-go","version":"0.50.0"}]},` +
				`"trace":{"environment":"production","sampled":"true","unknown":1,"trace_id":"0318bd57836a097a5038cd223d23c721"}}`,
			EnvelopeHeader{
				EventID: "2c61c8c09e7c4cb8ac9ce7de6569b346",
				DSN:     "http://8f3d1c0a9b7e4d52a1c6f0e3b2d49871@127.0.0.1:58733/4507",
				SDK:     SDK{Name: "sentry.go.http", Version: "0.27.0"},
				SentAt:  sent("2026-11-21T01:20:51.411181527Z"),
				Trace: &DynamicSamplingContext{
					TraceID: "0318bd57836a097a5038cd223d23c721", Environment: "production", Sampled: "true",
				},
			}},
		{"php escapes slashes and sends whole seconds",
			`{"sent_at":"2026-11-21T01:23:23Z","dsn":"http:\/\/8f3d@127.0.0.1:53507\/4507","trace":{"transaction":"\/coupon"}}`,
			EnvelopeHeader{
				DSN:    "http://8f3d@127.0.0.1:53507/4507",
				SentAt: sent("2026-11-21T01:23:23Z"),
				Trace:  &DynamicSamplingContext{Transaction: "/coupon"},
			}},
		{"native sends dashes and numbers",
			`{"event_id":"3D9339AE-11f8-477f-a031-8b8f714b576c","trace":{"sample_rate":1,"sample_rand":0.1497588648319056,"sampled":true}}`,
			EnvelopeHeader{
				EventID: "3d9339ae11f8477fa0318b8f714b576c",
				Trace:   &DynamicSamplingContext{SampleRate: "1", SampleRand: "0.1497588648319056", Sampled: "true"},
			}},
		{"offset from UTC", `{"sent_at":"2026-11-21T03:23:23.5+02:00"}`, EnvelopeHeader{SentAt: sent("2026-11-21T01:23:23.5Z")}},
		{"null everywhere", `{"event_id":null,"dsn":null,"sdk":null,"sent_at":null,"trace":null}`, EnvelopeHeader{}},
		{"wrong types everywhere", `{"event_id":[],"dsn":{},"sdk":"x","sent_at":1,"trace":["a"]}`, EnvelopeHeader{}},
		{"wrong types inside", `{"sdk":{"name":1,"version":["2"]},"trace":{"trace_id":{},"release":null,"org_id":[1]}}`,
			EnvelopeHeader{Trace: &DynamicSamplingContext{}}},
		{"event id short", `{"event_id":"abc"}`, EnvelopeHeader{}},
		{"event id of 15", `{"event_id":"2c61c8c09e7c4cb"}`, EnvelopeHeader{}},
		{"event id not hex", `{"event_id":"zc61c8c09e7c4cb8ac9ce7de6569b346"}`, EnvelopeHeader{}},
		{"event id with dashes elsewhere", `{"event_id":"3d93-39ae11f8-477f-a031-8b8f714b576c"}`, EnvelopeHeader{}},
		{"sent_at without offset", `{"sent_at":"2026-11-21T01:23:23"}`, EnvelopeHeader{}},
		{"sent_at that leaves year 9999 in UTC", `{"sent_at":"9999-12-31T23:59:59-01:00"}`, EnvelopeHeader{}},
		{"sent_at that leaves year 0 in UTC", `{"sent_at":"0000-01-01T00:00:00+01:00"}`, EnvelopeHeader{}},
		{"keys in other case are other keys", `{"DSN":"x","Event_Id":"2c61c8c09e7c4cb8ac9ce7de6569b346"}`, EnvelopeHeader{}},
		{"invalid UTF-8", "{\"dsn\":\"a\xffb\"}", EnvelopeHeader{DSN: "a\ufffdb"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, err := ReadEnvelope([]byte(test.body))
			require.NoError(t, err)
			assert.Equal(t, test.want, e.Header)
		})
	}
}

func TestReadItemHeader(t *testing.T) {
	tests := []struct {
		name string
		json string
		want ItemHeader
	}{
		{"java names its trace file and writes application-json",
			`{"content_type":"application-json","filename":"abc.trace","type":"profile_chunk","platform":"java","length":0}`,
			ItemHeader{Type: ItemProfileChunk, ContentType: "application-json", Platform: "java", Filename: "abc.trace"}},
		{"container", `{"type":"log","item_count":3,"content_type":"application/vnd.sentry.items.log+json"}`,
			ItemHeader{Type: ItemLog, ContentType: ContentTypeLogs, ItemCount: jsonscan.Some(3)}},
		{"zero is not absent", `{"item_count":0,"meta_length":0,"attachment_length":0,"sampled":false}`,
			ItemHeader{ItemCount: jsonscan.Some(0), MetaLength: jsonscan.Some(0), AttachmentLength: jsonscan.Some(0), Sampled: jsonscan.Some(false)}},
		{"perfetto", `{"type":"profile_chunk","content_type":"application/x-perfetto-trace","meta_length":812,"platform":"android"}`,
			ItemHeader{Type: ItemProfileChunk, ContentType: ContentTypePerfetto, MetaLength: jsonscan.Some(812), Platform: "android"}},
		{"unsampled profile", `{"type":"profile","sampled":false}`, ItemHeader{Type: ItemProfile, Sampled: jsonscan.Some(false)}},
		{"attachment", `{"type":"attachment","attachment_type":"event.view_hierarchy","span_id":"b0e6f15b45c36b12","sampled":true}`,
			ItemHeader{Type: ItemAttachment, AttachmentType: "event.view_hierarchy", SpanID: "b0e6f15b45c36b12", Sampled: jsonscan.Some(true)}},
		{"wrong types count as absent",
			`{"type":["profile"],"content_type":1,"item_count":"3","platform":{},"meta_length":-1,"filename":true,` +
				`"attachment_type":null,"attachment_length":1.5,"span_id":7,"sampled":"false"}`,
			ItemHeader{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, err := ReadEnvelope([]byte("{}\n" + test.json + "\n"))
			require.NoError(t, err)
			require.Len(t, e.Items, 1)
			assert.Equal(t, test.want, e.Items[0].Header)
		})
	}
}

func TestReadEnvelopeTooManyItems(t *testing.T) {
	// An item in every four bytes, of a body as large as the receiver takes.
	body := append([]byte("{}\n"), bytes.Repeat([]byte("{}\n\n"), 25<<20)...)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e, err := ReadEnvelope(body)
	runtime.ReadMemStats(&after)

	var bad *EnvelopeError
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, ReasonEnvelopeTooManyItems, bad.Reason)
	assert.Equal(t, MaxEnvelopeItems+1, bad.Item)
	assert.Len(t, e.Items, MaxEnvelopeItems)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "bytes allocated")

	exactly := append([]byte("{}\n"), bytes.Repeat([]byte("{}\n\n"), MaxEnvelopeItems)...)
	e, err = ReadEnvelope(exactly)
	require.NoError(t, err)
	assert.Len(t, e.Items, MaxEnvelopeItems)
}

func TestReadEnvelopeCopiesHeadersAndSharesPayloads(t *testing.T) {
	body := []byte("{\"dsn\":\"abc\"}\n{\"type\":\"made_up\",\"filename\":\"f\"}\npayload\n{\"type\":\"x\"}\nnext")
	e, err := ReadEnvelope(body)
	require.NoError(t, err)
	require.Len(t, e.Items, 2)

	_ = append(e.Items[0].Payload, '!')
	assert.Equal(t, "next", string(e.Items[1].Payload), "an append must not reach into the body")

	for i := range body {
		body[i] = '#'
	}
	assert.Equal(t, "abc", e.Header.DSN)
	assert.Equal(t, ItemType("made_up"), e.Items[0].Header.Type)
	assert.Equal(t, "f", e.Items[0].Header.Filename)
	assert.Equal(t, "#######", string(e.Items[0].Payload))
}

func BenchmarkReadEnvelope(b *testing.B) {
	payload := strings.Repeat("x", 100_000)
	body := []byte(`{"sent_at":"2026-11-21T01:20:51.411181Z","sdk":{"name":"sentry.python","version":"2.68.0"}}` + "\n" +
		`{"type":"profile_chunk","platform":"python","content_type":"application/json"}` + "\n" + payload + "\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadEnvelope(body); err != nil {
			b.Fatal(err)
		}
	}
}
