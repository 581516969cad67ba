// SPDX-License-Identifier: Apache-2.0

package event

import (
	"encoding/json"
	"slices"

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

	// Lists writes the exceptions and the threads in place of Exceptions and Threads. nil = these.
	Lists ListWriter

	Flaws []discard.Flaw
}

// ListWriter appends JSON lists of exceptions and of threads.
type ListWriter interface {
	AppendExceptions(dst []byte) []byte
	AppendThreads(dst []byte) []byte
}

// TransactionInfo states where the name of a transaction comes from.
type TransactionInfo struct {
	Source string // custom, url, route, view, component, task
	Rest   []NamedValue
}

// TransactionInfos is the table of TransactionInfo.
var TransactionInfos = newTable("transaction_info", func(i *TransactionInfo) *[]NamedValue { return &i.Rest },
	text("source", func(i *TransactionInfo) *string { return &i.Source }),
	carried[TransactionInfo](KindText, "original"),
	carried[TransactionInfo](KindList, "changes"),
	carried[TransactionInfo](KindCount, "propagations"),
)

// DebugMeta is for symbolication.
type DebugMeta struct {
	Images []byte // JSON list
	Rest   []NamedValue
}

// DebugMetas is the table of DebugMeta.
var DebugMetas = newTable("debug_meta", func(d *DebugMeta) *[]NamedValue { return &d.Rest },
	anyJSON(KindList, "images", func(d *DebugMeta) *[]byte { return &d.Images }),
	carried[DebugMeta](KindObject, "sdk_info"),
)

// SDK is the Sentry SDK that created an item.
// https://develop.sentry.dev/sdk/data-model/event-payloads/sdk/
type SDK struct {
	sentry.ClientSDK
	Rest []NamedValue
}

// SDKs is the table of SDK.
var SDKs = newTable("sdk", func(s *SDK) *[]NamedValue { return &s.Rest },
	text("name", func(s *SDK) *string { return &s.Name }),
	text("version", func(s *SDK) *string { return &s.Version }),
	carried[SDK](KindList, "integrations"),
	carried[SDK](KindList, "packages"),
	carried[SDK](KindList, "features"),
	carried[SDK](KindObject, "settings"),
)

// NeverInferIP tells ingest to keep the user as sent. Otherwise, if the user of a browser or an
// Apple device has no address, ingest sets the sender's, which is the collector's
// (relay-event-normalization/src/event.rs, normalize_ip_addresses).
func (s *SDK) NeverInferIP() {
	i := slices.IndexFunc(s.Rest, func(v NamedValue) bool { return v.Name == "settings" })
	if i < 0 {
		s.Rest = append(s.Rest, NamedValue{"settings", neverInferIP})
		return
	}
	settings := map[string]json.RawMessage{} // few members, all unknown except for infer_ip
	if json.Unmarshal(s.Rest[i].Value, &settings) != nil || settings == nil {
		settings = map[string]json.RawMessage{}
	}
	settings["infer_ip"] = json.RawMessage(`"never"`)
	s.Rest[i].Value, _ = json.Marshal(settings)
}

// InferIP returns the setting infer_ip as ingest reads it: InferNever, InferAuto or InferLegacy. An
// unknown value means never (relay-event-schema/src/protocol/clientsdk.rs).
func (s *SDK) InferIP() string {
	i := slices.IndexFunc(s.Rest, func(v NamedValue) bool { return v.Name == "settings" })
	if i < 0 {
		return InferLegacy
	}
	var settings struct {
		InferIP json.RawMessage `json:"infer_ip"`
	}
	if json.Unmarshal(s.Rest[i].Value, &settings) != nil {
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
	message(func(e *ErrorEvent) *Message { return &e.Message }),
	listed(values("exception", Exceptions, func(e *ErrorEvent) *[]Exception { return &e.Exceptions }, (*Exception).isException), ListWriter.AppendExceptions).
		or("sentry.interfaces.Exception"),
	stacktrace(func(e *ErrorEvent) **Stacktrace { return &e.Stacktrace }),
	listed(values("threads", EventThreads, func(e *ErrorEvent) *[]EventThread { return &e.Threads }, nil), ListWriter.AppendThreads),
	carried[ErrorEvent](KindObject, "template").or("sentry.interfaces.Template"),
	row[ErrorEvent]{
		key: "contexts", aliases: []string{"sentry.interfaces.Contexts"},
		read:  func(l *reader, e *ErrorEvent, name string) { l.contexts(e, name) },
		write: func(dst []byte, key string, e *ErrorEvent) []byte { return e.appendContexts(dst, key) },
	},
)...)

// or adds aliases.
func (r row[T]) or(aliases ...string) row[T] { r.aliases = append(r.aliases, aliases...); return r }

// listed makes a row write the list from e.Lists, if there is one.
func listed(r row[ErrorEvent], appendList func(ListWriter, []byte) []byte) row[ErrorEvent] {
	own := r.write
	r.write = func(dst []byte, key string, e *ErrorEvent) []byte {
		if e.Lists == nil {
			return own(dst, key, e)
		}
		return appendValues(dst, key, func(dst []byte) []byte { return appendList(e.Lists, dst) })
	}
	return r
}

// DecodeEvent decodes the payload of an "event" or "feedback" item. The error is a *discard.Error.
func DecodeEvent(payload []byte) (*ErrorEvent, error) {
	e := &ErrorEvent{}
	l := newReader(payload)
	if err := Events.document(l, e); err != nil {
		return nil, err
	}
	e.Flaws = l.Flaws
	return e, nil
}

// AppendEvent appends the payload of an "event" item to dst. It is the inverse of DecodeEvent.
func AppendEvent(dst []byte, e *ErrorEvent) []byte { return Events.append(dst, e) }

// contexts reads all contexts. The context of the trace has a table.
func (l *reader) contexts(e *ErrorEvent, name string) {
	l.Object(name, func(key string) {
		if key == "trace" {
			TraceContexts.read(l, &e.Trace)
			return
		}
		l.keep(&e.Contexts, key)
	})
}

var traceContext = object("trace", TraceContexts, func(e *ErrorEvent) *TraceContext { return &e.Trace })

func (e *ErrorEvent) appendContexts(dst []byte, key string) []byte {
	before := len(dst)
	dst = append(jsonscan.AppendKey(dst, key), '{')
	empty := len(dst)
	dst = traceContext.write(dst, "trace", e)
	for i := range e.Contexts {
		dst = e.Contexts[i].append(dst)
	}
	if len(dst) == empty {
		return dst[:before]
	}
	return append(dst, '}')
}

// appendValues appends a member with a list, unless it is empty.
func appendValues(dst []byte, key string, appendList func(dst []byte) []byte) []byte {
	before := len(dst)
	dst = append(jsonscan.AppendKey(dst, key), `{"values":`...)
	empty := len(dst) + len("[]")
	if dst = appendList(dst); len(dst) == empty {
		return dst[:before]
	}
	return append(dst, '}')
}
