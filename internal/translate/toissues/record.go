// SPDX-License-Identifier: Apache-2.0

package toissues

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	sentryevent "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
)

// exporter translates one message.
type exporter struct {
	Export
	options Options
	records []*record
	copies  allowance.Allowance // of attributes that events repeat
}

// record is an exception that a span or a log record states.
type record struct {
	*service
	kind    string // type and position: see Event.Kind
	common  string // see parsed.failure
	framed  bool   // has a stack
	goLog   bool   // see Event.Provisional
	traceID pcommon.TraceID
	spanID  pcommon.SpanID
	span    int            // index in the service; notSpan = in a log record
	log     plog.LogRecord // if span is notSpan
	owner   pcommon.Map    // attributes of the span; empty for a log record
	at      pcommon.Timestamp
	attrs   pcommon.Map
	index   int              // index of the span event
	alsoOn  []pcommon.SpanID // spans with the same failure
}

// service is a resource with its spans.
type service struct {
	attr.Identity
	resource pcommon.Map
	repeated int // bytes of the resource in an event; 0 = not computed yet
	spans    []ptrace.Span
	logs     []plog.LogRecord
	roots    []int                       // index of the segment of each span; -1 = in another message
	crumbs   map[pcommon.TraceID][]crumb // of all spans; nil = not collected yet
}

// notSpan is the span of exceptions in log records.
const notSpan = -1

// failure identifies the failure of a record. Without a trace, records with different times are
// different failures.
func (r *record) failure() (id [24]byte) {
	trace := r.traceID
	if trace.IsEmpty() {
		binary.BigEndian.PutUint64(trace[8:], uint64(r.at))
	}
	sum := sha256.Sum256(append(trace[:], r.common...))
	copy(id[:], sum[:])
	return id
}

// isTraced reports whether the record states a trace and a span.
func (r *record) isTraced() bool { return !r.traceID.IsEmpty() && !r.spanID.IsEmpty() }

// handled returns false for an exception that left its span or has the severity fatal. Otherwise it
// returns no value, because a span does not show whether its caller handles the exception.
func (r *record) handled() (handled jsonscan.Optional[bool]) {
	if escaped(r.attrs) || r.span == notSpan && r.log.SeverityNumber() >= plog.SeverityNumberFatal {
		return jsonscan.Some(false)
	}
	return handled
}

// escaped reports whether the exception left its span. Python's SDK records this as text.
func escaped(attrs pcommon.Map) bool {
	return strings.EqualFold(attr.TextOf(attrs, semconv.ExceptionEscaped), "true")
}

// size returns the minimum size of the record in OTLP: that of its exception.
func (r *record) size() int {
	size := 10 // tags and lengths of the record, an attribute, its key and its value
	for _, key := range exception.Keys {
		if text := attr.TextOf(r.attrs, key); text != "" {
			size += len(key) + len(text)
		}
	}
	return size
}

func (s *service) serverName() string {
	name := attr.FirstText(attr.TextOf(s.resource, semconv.HostName), attr.TextOf(s.resource, semconv.ServiceInstanceID))
	return attr.Clip(name, attr.MaxNameBytes)
}

// repeatedSize returns the number of bytes of the resource in an event.
func (s *service) repeatedSize() int {
	if s.repeated == 0 {
		s.repeated = s.NameBytes() + len(attr.JsonString(s.serverName()))
		for _, context := range (&record{service: s}).contexts() {
			s.repeated += len(context.Value)
		}
	}
	return s.repeated
}

// contexts returns the SDK that recorded the exception, and the other spans with the same failure.
func (r *record) contexts() []sentryevent.NamedValue {
	put := func(m pcommon.Map, name, key string) {
		attr.PutShared(m, name, attr.Clip(attr.TextOf(r.resource, key), attr.MaxNameBytes))
	}
	value := pcommon.NewValueMap()
	resource := value.Map().PutEmptyMap("resource")
	for _, key := range []string{
		semconv.TelemetrySDKName, semconv.TelemetrySDKVersion, semconv.TelemetrySDKLanguage, semconv.ServiceNamespace, semconv.ServiceName,
		semconv.ServiceVersion, semconv.ServiceInstanceID,
	} {
		put(resource, key, key)
	}
	if len(r.alsoOn) > 0 {
		spans := value.Map().PutEmptySlice("also_on")
		for _, id := range r.alsoOn {
			spans.AppendEmpty().SetStr(attr.SpanText(id))
		}
	}
	contexts := []sentryevent.NamedValue{{Name: "otel", Value: attr.JsonOf(value)}}
	runtime := pcommon.NewValueMap()
	if put(runtime.Map(), "name", semconv.ProcessRuntimeName); runtime.Map().Len() > 0 {
		put(runtime.Map(), "version", semconv.ProcessRuntimeVersion)
		contexts = append(contexts, sentryevent.NamedValue{Name: "runtime", Value: attr.JsonOf(runtime)})
	}
	return contexts
}

func timeOf(log plog.LogRecord) pcommon.Timestamp {
	return cmp.Or(log.Timestamp(), log.ObservedTimestamp())
}

// spend reports whether an event may repeat attributes of this size, and otherwise counts them as
// omitted. This bounds the output by the input.
func (e *exporter) spend(size int, field string) bool {
	ok := e.copies.Spend(size)
	if !ok {
		e.Flaw(field, 1)
	}
	return ok
}

const (
	// maxCrumbs is the default number of breadcrumbs in SDKs (max_breadcrumbs).
	maxCrumbs = 100

	// maxAlsoOn is the maximum number of other spans in an event: an exception passes through a few
	// spans.
	maxAlsoOn = 20

	// maxValue is the maximum size of a message, and maxFrameText that of a function or file: Relay
	// truncates at these sizes (relay-event-schema: "message", "symbol").
	maxValue, maxFrameText = 8192, 256

	// maxExtra is the maximum size of an attribute in extra data, and maxStacktrace that of a text
	// without frames.
	maxExtra, maxStacktrace = 4096, 64 << 10

	// Sentry ignores tags beyond these lengths.
	maxTagKey, maxTagValue = 32, 200

	// maxMethod is Relay's limit for HTTP methods, in characters.
	maxMethod = 32
)
