// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"cmp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
)

// newTransaction translates the root of a segment: the inverse of fromsentry.fillRoot.
func (e *traceExporter) newTransaction(s *tracedSpan) (t event.Transaction) {
	e.scratch.Reset() // the last transaction has been written
	e.repeatIdentity(s)
	fromSentry, id := e.resource.FromSentry, s.id
	root := e.legacySpan(s)
	t.Root = &root
	p, scratch := e.profilingOf(s), &e.scratch

	t.Transaction, t.Platform, t.Release, t.Dist, t.Environment, t.SDK.ClientSDK = s.Name(), attr.EventPlatform(id.Platform), id.Release, id.Dist, id.Environment, id.Sdk
	t.ProfilerID = p.Profiler
	t.EventID = sentryID(attr.TextOf(s.Attributes(), semconv.SentryTransactionID))
	if t.EventID == "" {
		t.EventID = attr.HashID("transaction", root.TraceID, root.SpanID)
	}
	t.Tags, root.Tags = root.Tags, nil
	t.Measurements, root.Measurements = root.Measurements, nil
	root.Data = e.takeEvent(&t, s, root.Data, scratch)
	t.SDK.NeverInferIP()
	if description, ok := s.Attributes().Get(semconv.SentryDescription); ok {
		root.Description = description.AsString()
	}
	if !fromSentry {
		t.Info.Source = attr.FirstText(t.Info.Source, foreignSource(s.Span))
	}
	putThread(&root, p, scratch)
	var contexts Contexts
	for key, value := range s.Attributes().All() {
		contexts.Read(key, value)
	}
	contexts.AddMachine(e.resource, e.Repeats(&e.copies, e.resource.Size), scratch)
	contexts.Remove("profile") // the transaction has a field for it
	t.Contexts = contexts.AppendTo(nil, scratch)
	return t
}

// takeEvent moves the attributes of a root that belong to its transaction to their fields. It
// returns the others.
func (e *traceExporter) takeEvent(t *event.Transaction, s *tracedSpan, data []event.NamedValue, scratch *attr.Scratch) (rest []event.NamedValue) {
	attrs := s.Attributes()
	t.User = AppendUser(nil, attrs, e.resource.FromSentry, scratch)
	t.Request = RequestOf(attrs, s.Kind(), scratch)
	namesServer := has(attrs, semconv.SentryServerName)
	for _, member := range data {
		// Only a few keys need the value, and each lookup searches the list, which may have a
		// hundred thousand entries.
		value := func() pcommon.Value { value, _ := attrs.Get(member.Name); return value }
		switch key := member.Name; {
		case key == semconv.SentryTransactionID, key == semconv.SentryDescription:
		case key == semconv.SentryServerName,
			key == semconv.ServerAddress && s.Kind() != ptrace.SpanKindClient && s.Kind() != ptrace.SpanKindProducer && t.ServerName == "" && !namesServer:
			t.ServerName = value().AsString()
		case key == semconv.SentryLevel:
			t.Level = value().AsString()
		case eventTaker.Has(key):
			eventTaker.Take(&t.ErrorEvent, key, value(), scratch)
		case key == semconv.SentryContextTrace:
			t.Root.Rest = AppendMembers(nil, value(), scratch)
		case key == semconv.SentryBreadcrumbs && value().Type() == pcommon.ValueTypeSlice:
			t.Breadcrumbs = AppendCrumbs(nil, value(), scratch)
		case t.Request != nil && strings.HasPrefix(key, semconv.HTTPRequestHeaderPrefix) && value().Type() == pcommon.ValueTypeSlice: // data has no lists
		case key == semconv.SentryReplayID, strings.HasPrefix(key, semconv.SentryRequestPrefix) && t.Request != nil:
		case strings.HasPrefix(key, semconv.SentryContextPrefix), strings.HasPrefix(key, semconv.SentryUserPrefix):
		case attr.UserFields.Has(key) && (e.resource.FromSentry || key != semconv.ClientAddress):
		default:
			rest = append(rest, member)
		}
	}
	return rest
}

// EventFields are the fields that events and transactions share, for a Taker. They are the inverse
// of fromsentry.putEvent.
var EventFields = []func(*attr.Taker[event.ErrorEvent]){
	attr.FieldsOf(attr.EventFields, event.Events),
	attr.PartOf(attr.TransactionInfoFields, event.TransactionInfos, func(e *event.ErrorEvent) *event.TransactionInfo { return &e.Info }),
	attr.PartOf(attr.DebugMetaFields, event.DebugMetas, func(e *event.ErrorEvent) *event.DebugMeta { return &e.DebugMeta }),
	attr.PartOf(attr.SDKFields, event.SDKs, func(e *event.ErrorEvent) *event.SDK { return &e.SDK }),
}

var eventTaker = attr.NewTaker(EventFields...)

func AppendMembers(all []event.NamedValue, value pcommon.Value, scratch *attr.Scratch) []event.NamedValue {
	if value.Type() == pcommon.ValueTypeMap {
		for name, member := range value.Map().All() {
			all = append(all, event.NamedValue{Name: name, Value: scratch.JSON(member)})
		}
	}
	return all
}

func has(attrs pcommon.Map, key string) bool {
	_, ok := attrs.Get(key)
	return ok
}

// AppendUser is the inverse of fromsentry.putUser. Only in data from Sentry is the client's address
// that of the user.
func AppendUser(user []event.NamedValue, attrs pcommon.Map, fromSentry bool, scratch *attr.Scratch) []event.NamedValue {
	for key, value := range attrs.All() {
		user, _ = AppendUserField(user, key, value, fromSentry, scratch)
	}
	return user
}

// AppendUserField appends the field that an attribute states, and reports whether the attribute is
// one of the user.
func AppendUserField(user []event.NamedValue, key string, value pcommon.Value, fromSentry bool, scratch *attr.Scratch) ([]event.NamedValue, bool) {
	if name := attr.UserFields.FieldOf(key); name != "" {
		if fromSentry || key != semconv.ClientAddress {
			user = append(user, event.NamedValue{Name: name, Value: scratch.Text(value.AsString())})
		}
		return user, true
	}
	name, ok := strings.CutPrefix(key, semconv.SentryUserPrefix)
	if ok && name != "" && attr.UserFields.KeyOf(name) == "" {
		user = append(user, event.NamedValue{Name: name, Value: scratch.JSON(value)})
	}
	return user, ok
}

// RequestOf is the inverse of fromsentry.putRequest. Attributes with an OpenTelemetry name also
// remain in the data of the span, where Sentry reads them for spans; for events, it reads them from
// the request.
func RequestOf(attrs pcommon.Map, kind ptrace.SpanKind, scratch *attr.Scratch) *event.HTTPRequest {
	if kind == ptrace.SpanKindClient { // an outgoing request
		return nil
	}
	var r event.HTTPRequest
	for key, value := range attrs.All() {
		ReadRequest(&r, key, value, scratch)
	}
	if r.IsEmpty() {
		return nil
	}
	request := r // only an existing request takes memory
	return &request
}

var requestTaker = attr.NewTaker(attr.FieldsOf(attr.RequestFields, event.Requests))

// ReadRequest sets the field that an attribute states. It reports whether the attribute is one of
// the request.
func ReadRequest(r *event.HTTPRequest, key string, value pcommon.Value, scratch *attr.Scratch) bool {
	switch key {
	case semconv.URLQuery:
		r.QueryString = scratch.JSON(value)
	case semconv.SentryRequestQueryString:
		if len(r.QueryString) == 0 { // else it is that of URLQuery
			r.QueryString = scratch.JSON(value)
		}
	default:
		if requestTaker.Take(r, key, value, scratch) {
			return true
		}
		name, ok := strings.CutPrefix(key, semconv.HTTPRequestHeaderPrefix)
		if ok {
			r.Headers = AppendHeader(r.Headers, name, value)
		}
		return ok
	}
	return true
}

// AppendHeader appends a header with each of its values.
func AppendHeader(headers []event.Tag, name string, value pcommon.Value) []event.Tag {
	if value.Type() != pcommon.ValueTypeSlice {
		return append(headers, event.Tag{Key: name, Value: value.AsString()})
	}
	for _, one := range value.Slice().All() {
		headers = append(headers, event.Tag{Key: name, Value: one.AsString()})
	}
	return headers
}

// maxCrumbs is the default limit of breadcrumbs in SDKs (max_breadcrumbs).
const maxCrumbs = 100

// appendEvents appends the events of a span. Sentry's spans have no events; a breadcrumb of the
// transaction is the closest equivalent.
func appendEvents(all []event.Breadcrumb, s *tracedSpan) []event.Breadcrumb {
	for _, sent := range s.Events().All() {
		crumb := event.Breadcrumb{Timestamp: attr.TimeOf(sent.Timestamp()), Type: "default", Category: sent.Name()}
		data := pcommon.NewValueMap()
		sent.Attributes().CopyTo(data.Map())
		if headline := exception.Read(sent.Attributes()).Headline(); headline != "" {
			crumb.Type, crumb.Level, crumb.Message = "error", "error", headline
		}
		data.Map().PutStr("span_id", attr.SpanText(s.SpanID()))
		crumb.Data = attr.JsonOf(data)
		all = append(all, crumb)
	}
	return all
}

// lastCrumbs returns the last maxCrumbs breadcrumbs in order of time, and the number of the others.
func lastCrumbs(all []event.Breadcrumb) (last []event.Breadcrumb, dropped int) {
	slices.SortStableFunc(all, func(a, b event.Breadcrumb) int { return cmp.Compare(a.Timestamp.UnixNano, b.Timestamp.UnixNano) })
	dropped = max(len(all)-maxCrumbs, 0)
	return all[dropped:], dropped
}

// AppendCrumbs is the inverse of fromsentry.putBreadcrumbs.
func AppendCrumbs(all []event.Breadcrumb, list pcommon.Value, scratch *attr.Scratch) []event.Breadcrumb {
	for m := range attr.Maps(list) {
		all = append(all, event.Breadcrumb{})
		crumb := &all[len(all)-1]
		attr.TakeMembers(crumb, event.Breadcrumbs, m, scratch, true)
		if at, ok := m.Get("time_unix_nano"); ok && at.Type() == pcommon.ValueTypeInt && at.Int() > 0 {
			crumb.Timestamp = jsonscan.Timestamp{UnixNano: uint64(at.Int()), Set: true}
		}
	}
	return all
}
