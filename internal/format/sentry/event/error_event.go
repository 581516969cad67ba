// SPDX-License-Identifier: Apache-2.0

package event

import (
	"encoding/json"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// ErrorEvent is the payload of an "event" item, of the store endpoint, and of a "feedback" item.
// https://develop.sentry.dev/sdk/data-model/event-payloads/
type ErrorEvent struct {
	EventID     string             // PHP sends it in the envelope header only
	Timestamp   jsonscan.Timestamp // RFC 3339 in Python, Go, Java and Native, Unix seconds in the others
	Type        string             // error, default, feedback, transaction, …; ingest infers it
	Platform    string
	Level       string // fatal, error, warning, info, debug; "" = error
	Logger      string
	Transaction string // name of the current transaction
	Info        TransactionInfo
	ServerName  string
	Release     string
	Dist        string
	Environment string
	SDK         SDK

	Message     Message
	Exceptions  []Exception // cause first, thrown last
	Stacktrace  *Stacktrace // of a message; modern SDKs send it on a thread
	Threads     []EventThread
	Breadcrumbs []Breadcrumb // oldest first
	Fingerprint []string
	Modules     []byte // JSON object: package → version
	Tags        []Tag
	Extra       []byte // JSON object
	User        []NamedValue
	Request     *HTTPRequest
	Contexts    []NamedValue // all except trace; usually objects
	Trace       TraceContext
	DebugMeta   DebugMeta
	Rest        []NamedValue

	// Lists writes in place of Exceptions, Stacktrace and Threads. nil = these.
	Lists ListWriter

	discard.Tally // of a transaction, Lost counts its spans
}

// ListWriter appends the elements of the lists of exceptions and of threads, and the stack of a
// message with its key.
type ListWriter interface {
	AppendExceptions(dst []byte) []byte
	AppendThreads(dst []byte) []byte
	AppendStacktrace(dst []byte, key string) []byte
}

// TransactionInfo states where the name of a transaction comes from.
type TransactionInfo struct {
	Source string // custom, url, route, view, component, task
	Rest   []NamedValue
}

var TransactionInfos = newTable("transaction_info", func(i *TransactionInfo) *[]NamedValue { return &i.Rest },
	text("source", func(i *TransactionInfo) *string { return &i.Source }),
).carrying(KindText, "original").carrying(KindList, "changes").carrying(KindCount, "propagations")

// DebugMeta is for symbolication.
type DebugMeta struct {
	Images []byte // JSON list
	Rest   []NamedValue
}

var DebugMetas = newTable("debug_meta", func(d *DebugMeta) *[]NamedValue { return &d.Rest },
	anyJSON(KindList, "images", func(d *DebugMeta) *[]byte { return &d.Images }),
).carrying(KindObject, "sdk_info")

// SDK is the Sentry SDK that created an item.
// https://develop.sentry.dev/sdk/data-model/event-payloads/sdk/
type SDK struct {
	sentry.ClientSDK
	Rest []NamedValue
}

var SDKs = newTable("sdk", func(s *SDK) *[]NamedValue { return &s.Rest },
	text("name", func(s *SDK) *string { return &s.Name }),
	text("version", func(s *SDK) *string { return &s.Version }),
).carrying(KindList, "integrations", "packages", "features").
	carrying(KindObject, "settings")

// NeverInferIP tells ingest to keep the user as sent. Otherwise, if the user of a browser or an
// Apple device has no address, ingest sets the sender's, which is the collector's
// (relay-event-normalization/src/event.rs, normalize_ip_addresses).
func (s *SDK) NeverInferIP() {
	never := neverInferIP
	if sent := Member(s.Rest, "settings"); sent != nil {
		settings := map[string]json.RawMessage{} // few members, all unknown except for infer_ip
		if json.Unmarshal(sent, &settings) != nil || settings == nil {
			settings = map[string]json.RawMessage{}
		}
		settings["infer_ip"] = json.RawMessage(`"never"`)
		never, _ = json.Marshal(settings)
	}
	carry(&s.Rest, "settings", never)
}

// InferIP returns the setting infer_ip as ingest reads it: InferNever, InferAuto or InferLegacy. An
// unknown value means never (relay-event-schema/src/protocol/clientsdk.rs).
func (s *SDK) InferIP() string {
	var settings struct {
		InferIP json.RawMessage `json:"infer_ip"`
	}
	if sent := Member(s.Rest, "settings"); sent == nil || json.Unmarshal(sent, &settings) != nil {
		return InferLegacy // ingest removes settings that are not an object
	}
	switch string(settings.InferIP) {
	case "", "null", `"legacy"`:
		return InferLegacy
	case `"auto"`:
		return InferAuto
	}
	return InferNever
}

// Values of infer_ip and infer_user_agent.
const (
	InferAuto   = "auto"   // from the request
	InferNever  = "never"  //
	InferLegacy = "legacy" // depends on the platform; for SDKs without the setting
)

var neverInferIP = []byte(`{"infer_ip":"never"}`)

// eventRows are the fields that events and transactions share.
var eventRows = []row[ErrorEvent]{
	textAs(Source.UUID, "event_id", func(e *ErrorEvent) *string { return &e.EventID }),
	text("type", func(e *ErrorEvent) *string { return &e.Type }),
	instant("timestamp", func(e *ErrorEvent) *jsonscan.Timestamp { return &e.Timestamp }),
	text("platform", func(e *ErrorEvent) *string { return &e.Platform }),
	textAs(level, "level", func(e *ErrorEvent) *string { return &e.Level }),
	text("logger", func(e *ErrorEvent) *string { return &e.Logger }),
	text("transaction", func(e *ErrorEvent) *string { return &e.Transaction }),
	object("transaction_info", TransactionInfos, func(e *ErrorEvent) *TransactionInfo { return &e.Info }),
	text("server_name", func(e *ErrorEvent) *string { return &e.ServerName }),
	text("release", func(e *ErrorEvent) *string { return &e.Release }),
	text("dist", func(e *ErrorEvent) *string { return &e.Dist }),
	text("environment", func(e *ErrorEvent) *string { return &e.Environment }),
	object("sdk", SDKs, func(e *ErrorEvent) *SDK { return &e.SDK }),
	carried[ErrorEvent](KindText, "culprit"),
	carried[ErrorEvent](KindText, "checksum"),
	carried[ErrorEvent](KindText, "site"),
	carried[ErrorEvent](KindCount, "time_spent"),
	values("breadcrumbs", Breadcrumbs, func(e *ErrorEvent) *[]Breadcrumb { return &e.Breadcrumbs }, nil).or("sentry.interfaces.Breadcrumbs"),
	lenientTexts("fingerprint", func(e *ErrorEvent) *[]string { return &e.Fingerprint }),
	anyJSON(KindObject, "modules", func(e *ErrorEvent) *[]byte { return &e.Modules }),
	tags("tags", func(e *ErrorEvent) *[]Tag { return &e.Tags }),
	anyJSON(KindObject, "extra", func(e *ErrorEvent) *[]byte { return &e.Extra }),
	named("user", func(e *ErrorEvent) *[]NamedValue { return &e.User }).or("sentry.interfaces.User"),
	pointer(kindNone, "request", Requests, func(e *ErrorEvent) **HTTPRequest { return &e.Request }).or("sentry.interfaces.Http"),
	object("debug_meta", DebugMetas, func(e *ErrorEvent) *DebugMeta { return &e.DebugMeta }),
	carried[ErrorEvent](KindObject, "_meta"), // what the SDK removed or cut
	carried[ErrorEvent](KindList, "errors"),
	ignored[ErrorEvent]("version"), // of the protocol: "7"
}

// Events is the table of ErrorEvent. The names before "sentry.interfaces" are those of raven.
var Events = newTable("", func(e *ErrorEvent) *[]NamedValue { return &e.Rest }, append(eventRows[:len(eventRows):len(eventRows)],
	row[ErrorEvent]{
		key: "logentry", aliases: []string{"message", "sentry.interfaces.Message"},
		read: func(l *reader, e *ErrorEvent, _ string) { l.message(&e.Message) },
		write: func(dst []byte, key string, e *ErrorEvent) []byte {
			if e.Message.Formatted == "" && e.Message.Template == "" {
				return dst
			}
			return Messages.Append(jsonscan.AppendKey(dst, key), &e.Message)
		},
	},
	listed(values("exception", Exceptions, func(e *ErrorEvent) *[]Exception { return &e.Exceptions }, (*Exception).isException), inValues(ListWriter.AppendExceptions)).
		or("sentry.interfaces.Exception"),
	listed(stacktrace(func(e *ErrorEvent) **Stacktrace { return &e.Stacktrace }), ListWriter.AppendStacktrace),
	listed(values("threads", EventThreads, func(e *ErrorEvent) *[]EventThread { return &e.Threads }, nil), inValues(ListWriter.AppendThreads)),
	carried[ErrorEvent](KindObject, "template").or("sentry.interfaces.Template"),
	object("contexts", eventContexts, func(e *ErrorEvent) *ErrorEvent { return e }).or("sentry.interfaces.Contexts"),
)...)

var eventContexts = newTable("contexts", func(e *ErrorEvent) *[]NamedValue { return &e.Contexts },
	object("trace", TraceContexts, func(e *ErrorEvent) *TraceContext { return &e.Trace }),
).others(keepUnknown)

func (r row[T]) or(aliases ...string) row[T] { r.aliases = append(r.aliases, aliases...); return r }

// listed makes a row write from e.Lists, if there are any.
func listed(r row[ErrorEvent], from func(l ListWriter, dst []byte, key string) []byte) row[ErrorEvent] {
	own := r.write
	r.write = func(dst []byte, key string, e *ErrorEvent) []byte {
		if e.Lists == nil {
			return own(dst, key, e)
		}
		return from(e.Lists, dst, key)
	}
	return r
}

func inValues(elements func(ListWriter, []byte) []byte) func(l ListWriter, dst []byte, key string) []byte {
	return func(l ListWriter, dst []byte, key string) []byte {
		return appendValues(dst, key, func(dst []byte) []byte { return elements(l, dst) })
	}
}

// DecodeEvent decodes the payload of an "event" or "feedback" item. The error is a *discard.Error.
func DecodeEvent(payload []byte) (*ErrorEvent, error) {
	e := &ErrorEvent{}
	_, err := Events.decode(payload, e, &e.Flaws)
	return e, err
}

// Message is the text of an event, apart from its exceptions.
// https://develop.sentry.dev/sdk/data-model/event-payloads/message/
type Message struct {
	Formatted string
	Template  string // "order %s failed", if there are parameters
	Params    []byte // JSON: a list, or an object from Python's logging
}

var Messages = newTable[Message]("logentry", nil,
	text("formatted", func(m *Message) *string { return &m.Formatted }),
	text("message", func(m *Message) *string { return &m.Template }),
	anyJSON(KindAny, "params", func(m *Message) *[]byte { return &m.Params }),
)

// message reads "logentry", or "message" in any form: text, or an object as sent by Java. Plain
// text is the formatted message. An object overwrites an earlier message, text does not.
func (l *reader) message(m *Message) {
	const field = "message"
	switch l.S.Peek() {
	case '{':
	case 'f': // false is no message (relay-event-schema/src/protocol/logentry.rs)
		l.TypeMismatch(field)
		return
	default:
		if text := l.lenientText(field); m.Formatted == "" && m.Template == "" {
			m.Formatted = text
		}
		return
	}
	var sent Message
	Messages.read(l, &sent)
	if sent.Formatted == "" && len(sent.Params) == 0 { // no parameters: the template is the message
		sent.Formatted, sent.Template = sent.Template, ""
	}
	if sent.Formatted != "" || sent.Template != "" {
		*m = sent
	}
}

// Text returns the formatted message. If there is none, it formats the template, or returns it if
// that is impossible, as ingest does.
func (m *Message) Text() string {
	if m.Formatted != "" {
		return m.Formatted
	}
	if formatted, ok := FormatMessage(m.Template, m.Params); ok {
		return formatted
	}
	return m.Template
}

// levels are the levels of events and breadcrumbs that Sentry's ingest reads, and the words that it
// stores for them. It compares words exactly: it removes "warn", "Warning" and all others, so that
// an event has its default, error (transactions: info), and a breadcrumb has info
// (relay-event-schema/src/protocol/types.rs, Level; relay-event-normalization/src/event.rs).
var levels = map[string]string{
	"debug": "debug", "info": "info", "warning": "warning", "error": "error", "fatal": "fatal",
	"log":      "info",  // console.log in JavaScript
	"critical": "fatal", // Python's logging, Monolog
	// Python's logging, sent by raven. Ingest reads only these five numbers, and only as integers:
	// neither 25 nor 40.0.
	"10": "debug", "20": "info", "30": "warning", "40": "error", "50": "fatal",
}

// LevelOf returns the word that Sentry's ingest stores for a level, or "" if ingest removes it. The
// text is a word, or a number as written. A number in quotes is read as the number, although ingest
// removes it: the meaning is clear.
func LevelOf(text string) string { return levels[text] }

// level reads a level. Words are kept as sent, numbers of Python's logging become words.
func level(s Source, field string) string {
	text := s.ID(field)
	if word := LevelOf(text); word != "" && jsonscan.IsDigit(text[0]) {
		return word
	}
	return text
}

// TraceContext is contexts.trace: the trace and span of an event. The event ID is not a trace ID.
// https://develop.sentry.dev/sdk/data-model/event-payloads/contexts/#trace-context
type TraceContext struct {
	TraceID      string // 32 lower-case hex digits, "" if invalid
	SpanID       string // 16 lower-case hex digits, "" if invalid
	ParentSpanID string
	Op           string
	Origin       string
	Status       string
	SampleRand   jsonscan.Optional[float64]
	Data         []NamedValue
	Rest         []NamedValue
}

// TraceContexts is the table of TraceContext. Ingest retains unknown members.
var TraceContexts = newTable("contexts.trace", func(t *TraceContext) *[]NamedValue { return &t.Rest },
	textAs(Source.TraceID, "trace_id", func(t *TraceContext) *string { return &t.TraceID }),
	textAs(Source.SpanID, "span_id", func(t *TraceContext) *string { return &t.SpanID }),
	textAs(Source.SpanID, "parent_span_id", func(t *TraceContext) *string { return &t.ParentSpanID }),
	text("op", func(t *TraceContext) *string { return &t.Op }),
	text("origin", func(t *TraceContext) *string { return &t.Origin }),
	textAs(Source.ID, "status", func(t *TraceContext) *string { return &t.Status }),
	float("sample_rand", func(t *TraceContext) *jsonscan.Optional[float64] { return &t.SampleRand }),
	named("data", func(t *TraceContext) *[]NamedValue { return &t.Data }),
	ignored[TraceContext]("type"), // "trace"
).others(keepUnknown)

// Breadcrumb is an occurrence before an event. Lists start with the oldest.
// https://develop.sentry.dev/sdk/data-model/event-payloads/breadcrumbs/
type Breadcrumb struct {
	Timestamp jsonscan.Timestamp
	Type      string // default, debug, error, navigation, http, info, query, transaction, ui, user
	Category  string // ui.click, console, httplib, …
	Level     string
	Message   string
	Data      []byte // JSON object
	Rest      []NamedValue
}

var Breadcrumbs = newTable("breadcrumbs", func(b *Breadcrumb) *[]NamedValue { return &b.Rest },
	instant("timestamp", func(b *Breadcrumb) *jsonscan.Timestamp { return &b.Timestamp }),
	text("type", func(b *Breadcrumb) *string { return &b.Type }),
	text("category", func(b *Breadcrumb) *string { return &b.Category }),
	textAs(level, "level", func(b *Breadcrumb) *string { return &b.Level }),
	text("message", func(b *Breadcrumb) *string { return &b.Message }),
	anyJSON(KindObject, "data", func(b *Breadcrumb) *[]byte { return &b.Data }),
).carrying(KindText, "event_id", "origin") // event_id of JavaScript before version 8: an earlier event

// HTTPRequest is the request that the server was handling, or the page in the browser.
// https://develop.sentry.dev/sdk/data-model/event-payloads/request/
type HTTPRequest struct {
	URL         string
	Method      string
	QueryString []byte // JSON: text, an object (raven, browsers) or a list of pairs
	Fragment    string
	Headers     []Tag
	Cookies     []byte // JSON: text, an object or a list of pairs
	Env         []byte // JSON object: the CGI environment
	Data        []byte // JSON: the body
	Rest        []NamedValue
}

var Requests = newTable("request", func(r *HTTPRequest) *[]NamedValue { return &r.Rest },
	text("url", func(r *HTTPRequest) *string { return &r.URL }),
	text("method", func(r *HTTPRequest) *string { return &r.Method }),
	anyJSON(KindAny, "query_string", func(r *HTTPRequest) *[]byte { return &r.QueryString }),
	text("fragment", func(r *HTTPRequest) *string { return &r.Fragment }),
	headers("headers", func(r *HTTPRequest) *[]Tag { return &r.Headers }),
	anyJSON(KindAny, "cookies", func(r *HTTPRequest) *[]byte { return &r.Cookies }),
	anyJSON(KindObject, "env", func(r *HTTPRequest) *[]byte { return &r.Env }),
	anyJSON(KindAny, "data", func(r *HTTPRequest) *[]byte { return &r.Data }),
).carrying(KindCount, "body_size").
	carrying(KindText, "protocol", "api_target", "inferred_content_type") // api_target: graphql

// IsEmpty reports whether nothing of the request is known, except for a fragment.
func (r *HTTPRequest) IsEmpty() bool {
	return r.URL == "" && r.Method == "" && len(r.QueryString)+len(r.Headers)+len(r.Data)+len(r.Cookies)+len(r.Env)+len(r.Rest) == 0
}
