// SPDX-License-Identifier: Apache-2.0

package event

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// ErrorEvent is the payload of an "event" item, of the store endpoint, and of a "feedback" item.
// https://develop.sentry.dev/sdk/data-model/event-payloads/
//
// Not decoded: internal fields of SDKs (_meta, errors), and the SDK's lists of packages and
// integrations.
type ErrorEvent struct {
	EventID     string             // PHP sends it in the envelope header only
	Timestamp   jsonscan.Timestamp // RFC 3339 in Python, Go, Java and Native, Unix seconds in the others
	Platform    string
	Level       string // fatal, error, warning, info, debug; "" = error
	Logger      string
	Type        string // error, default, feedback, csp, …; rarely sent
	Transaction string // name of the current transaction
	Source      string // transaction_info.source: custom, url, route, view, component, task
	ServerName  string
	Release     string
	Dist        string
	Environment string
	SDK         sentry.ClientSDK

	Message     Message
	Exceptions  []Exception // cause first, thrown last
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
	Images      []byte // JSON list debug_meta.images, for symbolication

	Flaws []discard.Flaw
}

// Tag is a key with a text value.
type Tag struct{ Key, Value string }

// NamedValue is a member of an object with arbitrary keys.
type NamedValue struct {
	Name  string
	Value []byte // JSON, never null
}

// TraceContext is contexts.trace: the trace and span of an event. The event ID is not a trace ID.
type TraceContext struct {
	TraceID      string // 32 lower-case hex digits, "" if invalid
	SpanID       string // 16 lower-case hex digits, "" if invalid
	ParentSpanID string
	Op           string
	Origin       string
	Status       string
	SampleRand   jsonscan.Optional[float64]
	Data         []NamedValue
}

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
}

// IsEmpty reports whether nothing of the request is known, except for a fragment.
func (r *HTTPRequest) IsEmpty() bool {
	return r.URL == "" && r.Method == "" && len(r.QueryString)+len(r.Headers)+len(r.Data)+len(r.Cookies)+len(r.Env) == 0
}

// DecodeEvent decodes the payload of an "event" or "feedback" item. The error is a *discard.Error.
func DecodeEvent(payload []byte) (*ErrorEvent, error) {
	e := &ErrorEvent{}
	l := newReader(payload)
	if err := l.Document(func(key string) { e.field(&l, key) }); err != nil {
		return nil, err
	}
	e.Flaws = l.Flaws
	return e, nil
}

func (e *ErrorEvent) field(l *reader, key string) {
	switch key {
	case "event_id":
		e.EventID = l.UUID(key)
	case "timestamp":
		e.Timestamp = l.Time(key)
	case "platform":
		e.Platform = l.Text(key)
	case "level":
		e.Level = l.Text(key)
	case "logger":
		e.Logger = l.Text(key)
	case "type":
		e.Type = l.Text(key)
	case "transaction":
		e.Transaction = l.Text(key)
	case "transaction_info":
		e.Source = l.transactionSource()
	case "debug_meta":
		e.Images = l.imagesText()
	case "server_name":
		e.ServerName = l.Text(key)
	case "release":
		e.Release = l.Text(key)
	case "dist":
		e.Dist = l.Text(key)
	case "environment":
		e.Environment = l.Text(key)
	case "sdk":
		e.SDK = l.clientSDK()
	case "message", "logentry", "sentry.interfaces.Message":
		l.message(&e.Message)
	case "exception", "sentry.interfaces.Exception":
		e.Exceptions = l.exceptions()
	case "threads":
		e.Threads = l.threads()
	case "breadcrumbs":
		e.Breadcrumbs = l.breadcrumbs()
	case "fingerprint":
		e.Fingerprint = l.Texts(key)
	case "modules":
		e.Modules = l.RawObject(key)
	case "tags":
		e.Tags = l.tags(key)
	case "extra":
		e.Extra = l.RawObject(key)
	case "user", "sentry.interfaces.User":
		e.User = l.namedValues(key)
	case "request", "sentry.interfaces.Http":
		e.Request = l.request()
	case "contexts":
		e.contexts(l)
	default:
		l.S.Skip()
	}
}

// tags reads an object or a list of pairs, because Sentry's schema allows both for tags and
// headers. Null means no value; a header may have a list of values.
func (l *reader) tags(field string) (all []Tag) {
	if l.S.Peek() != '[' {
		l.Object(field, func(key string) { all = l.tag(all, field, strings.ToValidUTF8(key, "\uFFFD")) })
		return all
	}
	l.List(field, func() {
		var key string
		n := 0
		l.List(field, func() {
			switch n++; n {
			case 1:
				key = l.Text(field)
			case 2:
				all = l.tag(all, field, key)
			default:
				l.S.Skip()
			}
		})
	})
	return all
}

func (l *reader) tag(all []Tag, field, key string) []Tag {
	var value string
	switch c := l.S.Peek(); {
	case c == '[':
		value = strings.Join(l.Texts(field), ", ")
	case c == '-' || jsonscan.IsDigit(c) || c == 't' || c == 'f':
		value = string(l.S.Value())
	default:
		value = l.Text(field)
	}
	if key == "" || value == "" {
		return all
	}
	if len(all) == jsonscan.MaxAttributes {
		l.AddFlaw("too_many")
		return all
	}
	return append(all, Tag{key, value})
}

func (l *reader) namedValues(field string) []NamedValue {
	all := l.valueBuf[:0]
	l.Object(field, func(key string) {
		value := l.Raw()
		switch {
		case value == nil || key == "":
		case len(all) == jsonscan.MaxAttributes:
			l.AddFlaw("too_many")
		default:
			all = append(all, NamedValue{strings.ToValidUTF8(key, "\uFFFD"), value})
		}
	})
	l.valueBuf = all
	return jsonscan.Clipped(all)
}

func (l *reader) request() *HTTPRequest {
	r := &HTTPRequest{}
	if !l.Object("request", func(key string) {
		switch key {
		case "url":
			r.URL = l.Text("request.url")
		case "method":
			r.Method = l.Text("request.method")
		case "query_string":
			r.QueryString = l.Raw()
		case "fragment":
			r.Fragment = l.Text("request.fragment")
		case "headers":
			r.Headers = l.tags("request.headers")
		case "cookies":
			r.Cookies = l.Raw()
		case "env":
			r.Env = l.RawObject("request.env")
		case "data":
			r.Data = l.Raw()
		default:
			l.S.Skip()
		}
	}) {
		return nil
	}
	return r
}

// contexts reads all contexts; it decodes the fields of trace.
func (e *ErrorEvent) contexts(l *reader) {
	l.Object("contexts", func(key string) {
		if key == "trace" {
			e.Trace = l.traceContext()
			return
		}
		value := l.Raw()
		switch {
		case value == nil:
		case len(e.Contexts) == jsonscan.MaxAttributes:
			l.AddFlaw("too_many")
		default:
			e.Contexts = append(e.Contexts, NamedValue{strings.ToValidUTF8(key, "\uFFFD"), value})
		}
	})
}

func (l *reader) transactionSource() (source string) {
	l.Object("transaction_info", func(key string) {
		if key != "source" {
			l.S.Skip()
			return
		}
		source = l.Text("transaction_info.source")
	})
	return source
}

// imagesText returns the JSON of debug_meta.images.
func (l *reader) imagesText() (list []byte) {
	l.Object("debug_meta", func(key string) {
		switch {
		case key != "images":
			l.S.Skip()
		case l.S.Peek() != '[':
			l.TypeMismatch("debug_meta.images")
		default:
			list = l.Value()
		}
	})
	return list
}

func (l *reader) traceContext() (t TraceContext) {
	l.Object("contexts.trace", func(key string) {
		switch key {
		case "trace_id":
			t.TraceID = l.TraceID("contexts.trace.trace_id")
		case "span_id":
			t.SpanID = l.SpanID("contexts.trace.span_id")
		case "parent_span_id":
			t.ParentSpanID = l.SpanID("contexts.trace.parent_span_id")
		case "op":
			t.Op = l.Text("contexts.trace.op")
		case "origin":
			t.Origin = l.Text("contexts.trace.origin")
		case "status":
			t.Status = l.Text("contexts.trace.status")
		case "sample_rand":
			t.SampleRand = l.Float("contexts.trace.sample_rand")
		case "data":
			t.Data = l.namedValues("contexts.trace.data")
		default:
			l.S.Skip()
		}
	})
	return t
}
