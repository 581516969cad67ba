package sentry

import "strings"

// ErrorEvent is the payload of an "event" item, of the store endpoint, and of a "feedback" item.
// https://develop.sentry.dev/sdk/data-model/event-payloads/
//
// Not decoded: what SDKs say of themselves to each other (_meta, errors), and lists of packages and integrations of the SDK.
type ErrorEvent struct {
	EventID     string    // php leaves it to the envelope header
	Timestamp   Timestamp // RFC 3339 in python, go, java and native, unix seconds in the others
	Platform    string
	Level       string // fatal, error, warning, info, debug; "" = error
	Logger      string
	Type        string // error, default, feedback, csp, …; hardly ever sent
	Transaction string // name of what was going on
	Source      string // transaction_info.source: custom, url, route, view, component, task
	ServerName  string
	Release     string
	Dist        string
	Environment string
	SDK         ClientSDK

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
	Contexts    []NamedValue // all but trace; each an object as a rule
	Trace       TraceContext
	Images      []byte // JSON list, debug_meta.images: what symbolication needs

	Flaws []Flaw
}

// Tag is a name with a text.
type Tag struct{ Key, Value string }

// NamedValue is a member of an object whose keys are the sender's.
type NamedValue struct {
	Name  string
	Value []byte // JSON, never null
}

// TraceContext is contexts.trace: what an event belongs to. The id of the event itself is no trace id.
type TraceContext struct {
	TraceID      string // 32 lower-case hex digits, "" where it was none
	SpanID       string // 16 lower-case hex digits, "" where it was none
	ParentSpanID string
	Op           string
	Origin       string
	Status       string
	SampleRand   Optional[float64]
	Data         []NamedValue
}

// HTTPRequest is the request that was being served, or the page a browser was on.
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

// DecodeEvent decodes the payload of an "event" or "feedback" item. The error is a Discard.
func DecodeEvent(payload []byte) (*ErrorEvent, error) {
	e := &ErrorEvent{}
	l := loose{s: scanner{data: payload}}
	if err := l.document(func(key string) { e.field(&l, key) }); err != nil {
		return nil, err
	}
	e.Flaws = l.flaws
	return e, nil
}

func (e *ErrorEvent) field(l *loose, key string) {
	switch key {
	case "event_id":
		e.EventID = l.uuid(key)
	case "timestamp":
		e.Timestamp = l.time(key)
	case "platform":
		e.Platform = l.text(key)
	case "level":
		e.Level = l.text(key)
	case "logger":
		e.Logger = l.text(key)
	case "type":
		e.Type = l.text(key)
	case "transaction":
		e.Transaction = l.text(key)
	case "transaction_info":
		e.Source = l.transactionSource()
	case "debug_meta":
		e.Images = l.imagesText()
	case "server_name":
		e.ServerName = l.text(key)
	case "release":
		e.Release = l.text(key)
	case "dist":
		e.Dist = l.text(key)
	case "environment":
		e.Environment = l.text(key)
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
		e.Fingerprint = l.texts(key)
	case "modules":
		e.Modules = l.rawObject(key)
	case "tags":
		e.Tags = l.tags(key)
	case "extra":
		e.Extra = l.rawObject(key)
	case "user", "sentry.interfaces.User":
		e.User = l.namedValues(key)
	case "request", "sentry.interfaces.Http":
		e.Request = l.request()
	case "contexts":
		e.contexts(l)
	default:
		l.s.skip()
	}
}

// tags reads a map, or a list of pairs, as Sentry's schema allows for tags and headers. Null is no value; a header may have
// a list of values.
func (l *loose) tags(field string) (all []Tag) {
	if l.s.peek() != '[' {
		l.object(field, func(key string) { all = l.tag(all, field, strings.ToValidUTF8(key, "\uFFFD")) })
		return all
	}
	l.list(field, func() {
		var key string
		n := 0
		l.list(field, func() {
			switch n++; n {
			case 1:
				key = l.text(field)
			case 2:
				all = l.tag(all, field, key)
			default:
				l.s.skip()
			}
		})
	})
	return all
}

func (l *loose) tag(all []Tag, field, key string) []Tag {
	var value string
	switch c := l.s.peek(); {
	case c == '[':
		value = strings.Join(l.texts(field), ", ")
	case c == '-' || isDigit(c) || c == 't' || c == 'f':
		value = string(l.s.value())
	default:
		value = l.text(field)
	}
	if key == "" || value == "" {
		return all
	}
	if len(all) == maxAttributes {
		l.flaw("too_many")
		return all
	}
	return append(all, Tag{key, value})
}

func (l *loose) namedValues(field string) []NamedValue {
	all := l.valueBuf[:0]
	l.object(field, func(key string) {
		value := l.raw()
		switch {
		case value == nil || key == "":
		case len(all) == maxAttributes:
			l.flaw("too_many")
		default:
			all = append(all, NamedValue{strings.ToValidUTF8(key, "\uFFFD"), value})
		}
	})
	l.valueBuf = all
	return atItsSize(all)
}

func (l *loose) request() *HTTPRequest {
	r := &HTTPRequest{}
	if !l.object("request", func(key string) {
		switch key {
		case "url":
			r.URL = l.text("request.url")
		case "method":
			r.Method = l.text("request.method")
		case "query_string":
			r.QueryString = l.raw()
		case "fragment":
			r.Fragment = l.text("request.fragment")
		case "headers":
			r.Headers = l.tags("request.headers")
		case "cookies":
			r.Cookies = l.raw()
		case "env":
			r.Env = l.rawObject("request.env")
		case "data":
			r.Data = l.raw()
		default:
			l.s.skip()
		}
	}) {
		return nil
	}
	return r
}

// contexts reads all contexts; trace by its fields.
func (e *ErrorEvent) contexts(l *loose) {
	l.object("contexts", func(key string) {
		if key == "trace" {
			e.Trace = l.traceContext()
			return
		}
		value := l.raw()
		switch {
		case value == nil:
		case len(e.Contexts) == maxAttributes:
			l.flaw("too_many")
		default:
			e.Contexts = append(e.Contexts, NamedValue{strings.ToValidUTF8(key, "\uFFFD"), value})
		}
	})
}

func (l *loose) transactionSource() (source string) {
	l.object("transaction_info", func(key string) {
		if key != "source" {
			l.s.skip()
			return
		}
		source = l.text("transaction_info.source")
	})
	return source
}

// imagesText gives the list of debug_meta as it was sent.
func (l *loose) imagesText() (list []byte) {
	l.object("debug_meta", func(key string) {
		switch {
		case key != "images":
			l.s.skip()
		case l.s.peek() != '[':
			l.wrong("debug_meta.images")
		default:
			list = l.value()
		}
	})
	return list
}

func (l *loose) traceContext() (t TraceContext) {
	l.object("contexts.trace", func(key string) {
		switch key {
		case "trace_id":
			t.TraceID = l.traceID("contexts.trace.trace_id")
		case "span_id":
			t.SpanID = l.spanID("contexts.trace.span_id")
		case "parent_span_id":
			t.ParentSpanID = l.spanID("contexts.trace.parent_span_id")
		case "op":
			t.Op = l.text("contexts.trace.op")
		case "origin":
			t.Origin = l.text("contexts.trace.origin")
		case "status":
			t.Status = l.text("contexts.trace.status")
		case "sample_rand":
			t.SampleRand = l.float("contexts.trace.sample_rand")
		case "data":
			t.Data = l.namedValues("contexts.trace.data")
		default:
			l.s.skip()
		}
	})
	return t
}
