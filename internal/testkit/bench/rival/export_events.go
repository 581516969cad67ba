// SPDX-License-Identifier: Apache-2.0

package rival

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// A translation of error events with structs that encoding/json marshals. It supports only the
// fields in the payloads of the benchmarks, and checks no limits.

type outEvent struct {
	EventID     string                   `json:"event_id"`
	Timestamp   float64                  `json:"timestamp"`
	Platform    string                   `json:"platform"`
	Level       string                   `json:"level"`
	Transaction string                   `json:"transaction,omitempty"`
	Release     string                   `json:"release,omitempty"`
	Environment string                   `json:"environment,omitempty"`
	ServerName  string                   `json:"server_name,omitempty"`
	SDK         outSDK                   `json:"sdk"`
	Meta        map[string]any           `json:"_meta,omitempty"`
	Exception   *outValues[outException] `json:"exception,omitempty"`
	Threads     *outValues[outThread]    `json:"threads,omitempty"`
	Breadcrumbs *outValues[outCrumb]     `json:"breadcrumbs,omitempty"`
	Modules     map[string]any           `json:"modules,omitempty"`
	Tags        map[string]string        `json:"tags,omitempty"`
	Extra       map[string]any           `json:"extra,omitempty"`
	User        map[string]string        `json:"user,omitempty"`
	Request     *outRequest              `json:"request,omitempty"`
	Contexts    map[string]any           `json:"contexts"`
}

type outSDK struct {
	SDK
	Integrations []any          `json:"integrations,omitempty"`
	Packages     []any          `json:"packages,omitempty"`
	Settings     map[string]any `json:"settings,omitempty"`
}

type outValues[T any] struct {
	Values []T `json:"values"`
}

type outException struct {
	Type       string        `json:"type,omitempty"`
	Value      string        `json:"value,omitempty"`
	Module     string        `json:"module,omitempty"`
	ThreadID   string        `json:"thread_id,omitempty"`
	Mechanism  *outMechanism `json:"mechanism,omitempty"`
	Stacktrace *outStack     `json:"stacktrace,omitempty"`
}

type outMechanism struct {
	Type        string `json:"type,omitempty"`
	Source      string `json:"source,omitempty"`
	Handled     *bool  `json:"handled,omitempty"`
	ExceptionID *int64 `json:"exception_id,omitempty"`
	ParentID    *int64 `json:"parent_id,omitempty"`
}

type outThread struct {
	ID         string    `json:"id,omitempty"`
	Name       string    `json:"name,omitempty"`
	State      string    `json:"state,omitempty"`
	Priority   *int64    `json:"priority,omitempty"`
	Crashed    *bool     `json:"crashed,omitempty"`
	Daemon     *bool     `json:"daemon,omitempty"`
	Stacktrace *outStack `json:"stacktrace,omitempty"`
}

type outStack struct {
	Frames   []outEventFrame `json:"frames"`
	Snapshot *bool           `json:"snapshot,omitempty"`
}

type outEventFrame struct {
	Function string         `json:"function,omitempty"`
	Module   string         `json:"module,omitempty"`
	Filename string         `json:"filename,omitempty"`
	AbsPath  string         `json:"abs_path,omitempty"`
	Line     *int64         `json:"lineno,omitempty"`
	Column   *int64         `json:"colno,omitempty"`
	InApp    *bool          `json:"in_app,omitempty"`
	Native   *bool          `json:"native,omitempty"`
	Vars     map[string]any `json:"vars,omitempty"`
}

type outCrumb struct {
	Timestamp float64        `json:"timestamp"`
	Type      string         `json:"type,omitempty"`
	Category  string         `json:"category,omitempty"`
	Level     string         `json:"level,omitempty"`
	Message   string         `json:"message,omitempty"`
	Data      map[string]any `json:"data,omitempty"`
}

type outRequest struct {
	URL     string            `json:"url,omitempty"`
	Method  string            `json:"method,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

type outTrace struct {
	TraceID string         `json:"trace_id"`
	SpanID  string         `json:"span_id"`
	Op      string         `json:"op,omitempty"`
	Origin  string         `json:"origin,omitempty"`
	Data    map[string]any `json:"data,omitempty"`
}

// machine are the members of contexts that are on the resource.
var machine = []struct{ context, member, key string }{
	{"runtime", "name", "process.runtime.name"}, {"runtime", "version", "process.runtime.version"}, {"os", "name", "os.name"},
	{"os", "version", "os.version"},
}

// MarshalEvents returns the event of each record.
func MarshalEvents(logs plog.Logs) (payloads [][]byte, err error) {
	resource := logs.ResourceLogs().At(0)
	for _, record := range resource.ScopeLogs().At(0).LogRecords().All() {
		payload, err := json.Marshal(eventOf(record, resource.Resource().Attributes()))
		if err != nil {
			return nil, err
		}
		payloads = append(payloads, payload)
	}
	return payloads, nil
}

func eventOf(record plog.LogRecord, resource pcommon.Map) *outEvent {
	attrs := record.Attributes()
	trace := &outTrace{TraceID: traceID(record.TraceID()), SpanID: spanID(record.SpanID()), Op: text(attrs, "sentry.op"), Origin: text(attrs, "sentry.origin"), Data: map[string]any{}}
	out := &outEvent{
		EventID: text(attrs, "sentry.event.id"), Timestamp: float64(record.Timestamp()) / 1e9, Platform: text(resource, "sentry.platform"),
		Level: record.SeverityText(), Transaction: text(attrs, "sentry.segment.name"), Release: text(resource, "sentry.release"),
		Environment: text(resource, "deployment.environment.name"), ServerName: text(attrs, "server.address"),
		SDK: outSDK{
			SDK: SDK{Name: text(resource, "telemetry.sdk.name"), Version: text(resource, "telemetry.sdk.version")}, Settings: map[string]any{"infer_ip": "never"},
		},
		Contexts: map[string]any{"trace": trace},
	}
	var request outRequest
	tags := map[string]bool{}
	if list, ok := attrs.Get("sentry.tags"); ok {
		out.Tags = map[string]string{}
		for _, key := range list.Slice().All() {
			tags[key.Str()] = true
		}
	}
	for key, value := range attrs.All() {
		switch {
		case tags[key]:
			out.Tags[key] = value.AsString()
		case key == "sentry.exceptions":
			out.Exception = valuesOf(value, exceptionOf)
		case key == "sentry.threads":
			out.Threads = valuesOf(value, threadOf)
		case key == "sentry.breadcrumbs":
			out.Breadcrumbs = valuesOf(value, crumbOf)
		case key == "sentry.extra":
			out.Extra = value.Map().AsRaw()
		case key == "sentry.sdk.integrations":
			out.SDK.Integrations = value.Slice().AsRaw()
		case key == "sentry.sdk.packages":
			out.SDK.Packages = value.Slice().AsRaw()
		case key == "sentry.meta":
			out.Meta = value.Map().AsRaw()
		case key == "sentry.modules":
			out.Modules = value.Map().AsRaw()
		case key == "user.id":
			out.User = map[string]string{"id": value.AsString()}
		case key == "url.full":
			request.URL, out.Request = value.Str(), &request
		case key == "http.request.method":
			request.Method, out.Request = value.Str(), &request
		case key == "sentry.profiler_id":
			out.Contexts["profile"] = map[string]any{"profiler_id": value.Str()}
		case strings.HasPrefix(key, "http.request.header."):
			if request.Headers == nil {
				request.Headers, out.Request = map[string]string{}, &request
			}
			request.Headers[strings.TrimPrefix(key, "http.request.header.")] = value.Slice().At(0).Str()
		case strings.HasPrefix(key, "sentry.context."):
			out.Contexts[strings.TrimPrefix(key, "sentry.context.")] = value.Map().AsRaw()
		case strings.HasPrefix(key, "thread."):
			trace.Data[key] = value.AsString()
		}
	}
	for _, m := range machine {
		out.put(m.context, m.member, text(resource, m.key))
	}
	arch := text(resource, "sentry.device.architecture")
	if arch == "" {
		arch = text(resource, "host.arch")
	}
	out.put("device", "arch", arch)
	return out
}

// put sets a member of a context.
func (e *outEvent) put(context, member, text string) {
	if text == "" {
		return
	}
	members, _ := e.Contexts[context].(map[string]any)
	if members == nil {
		members = map[string]any{}
		e.Contexts[context] = members
	}
	members[member] = text
}

func valuesOf[T any](list pcommon.Value, of func(pcommon.Map) T) *outValues[T] {
	out := &outValues[T]{}
	for _, element := range list.Slice().All() {
		out.Values = append(out.Values, of(element.Map()))
	}
	return out
}

func exceptionOf(m pcommon.Map) outException {
	e := outException{Type: text(m, "type"), Value: text(m, "value"), Module: text(m, "module"), ThreadID: text(m, "thread_id"), Stacktrace: stackOf(m)}
	if mechanism, ok := m.Get("mechanism"); ok {
		m := mechanism.Map()
		e.Mechanism = &outMechanism{
			Type: text(m, "type"), Source: text(m, "source"), Handled: flag(m, "handled"), ExceptionID: whole(m, "exception_id"), ParentID: whole(m, "parent_id"),
		}
	}
	return e
}

func threadOf(m pcommon.Map) outThread {
	return outThread{
		ID: text(m, "id"), Name: text(m, "name"), State: text(m, "state"), Priority: whole(m, "priority"), Crashed: flag(m, "crashed"),
		Daemon: flag(m, "daemon"), Stacktrace: stackOf(m),
	}
}

func crumbOf(m pcommon.Map) outCrumb {
	c := outCrumb{Type: text(m, "type"), Category: text(m, "category"), Level: text(m, "level"), Message: text(m, "message")}
	if at, ok := m.Get("time_unix_nano"); ok {
		c.Timestamp = float64(at.Int()) / float64(time.Second)
	}
	if data, ok := m.Get("data"); ok {
		c.Data = data.Map().AsRaw()
	}
	return c
}

// stackOf returns the stack of an exception or a thread. In OpenTelemetry, the innermost frame
// comes first; in Sentry, it comes last.
func stackOf(m pcommon.Map) *outStack {
	stack, ok := m.Get("stacktrace")
	if !ok {
		return nil
	}
	out := &outStack{Snapshot: flag(stack.Map(), "snapshot")}
	frames, _ := stack.Map().Get("frames")
	for _, element := range frames.Slice().All() {
		f := element.Map()
		frame := outEventFrame{
			Function: text(f, "function"), Module: text(f, "module"), Filename: text(f, "filename"), AbsPath: text(f, "abs_path"),
			Line: whole(f, "lineno"), Column: whole(f, "colno"), InApp: flag(f, "in_app"), Native: flag(f, "native"),
		}
		if vars, ok := f.Get("vars"); ok {
			frame.Vars = vars.Map().AsRaw()
		}
		out.Frames = append(out.Frames, frame)
	}
	slices.Reverse(out.Frames)
	return out
}

func flag(m pcommon.Map, key string) *bool {
	value, ok := m.Get(key)
	if !ok {
		return nil
	}
	set := value.Bool()
	return &set
}

func whole(m pcommon.Map, key string) *int64 {
	value, ok := m.Get(key)
	if !ok {
		return nil
	}
	number := value.Int()
	return &number
}
