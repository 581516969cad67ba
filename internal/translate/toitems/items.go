// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"slices"
	"strconv"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// Reasons for dropping data.
const (
	// ReasonItemContent: the record describes an item, such as an attachment, whose content the
	// receiver does not keep.
	ReasonItemContent discard.Reason = "item_content_not_kept"
	// ReasonOutputLimit: the output for the message would exceed its limit.
	ReasonOutputLimit discard.Reason = "output_limit"
)

// exporter translates one message.
type exporter struct {
	tosentry.Export
	options tosentry.ExportOptions
	copies  allowance.Allowance // of data that each item repeats, such as resource attributes
	memory
}

// memory is reused for the next message.
type memory struct {
	resource tosentry.Resource
	scratch  attr.Scratch // values of the current element or event
}

// newExporter returns an exporter for a message with the given size.
func newExporter(o tosentry.ExportOptions, size func() int, m memory) exporter {
	return exporter{options: o, copies: attr.Copies(size), memory: m}
}

func (e *exporter) limit() int { return e.options.AtMost(sentry.MaxOutgoingElements) }

// add adds an item, unless it is too large.
func (e *exporter) add(kind sentry.ItemType, eventID string, payload []byte) {
	if len(payload) > e.limit() {
		e.Lose(jsonscan.ReasonTooLarge, 1)
		return
	}
	e.Add(kind, sentry.ContentTypeJSON, payload).EventID = eventID
}

// addOf adds an item with which ingest stores the SDK that the credentials name, and no other
// (relay-server/src/processing/sessions/process.rs, check_ins/mod.rs). The scope is no SDK of a
// user.
func (e *exporter) addOf(s *source, sdk sentry.ClientSDK, kind sentry.ItemType, payload []byte) {
	n := len(e.Items)
	e.add(kind, "", payload)
	if len(e.Items) > n && sdk == s.Sdk && attr.TextOf(s.Map, semconv.TelemetrySDKName) != "" {
		e.Items[n].Client = sentry.ClientText(sdk)
	}
}

// container is a container with the memory that release returns after the message.
type container struct {
	tosentry.Container
	memory *[]byte
}

func (e *exporter) newContainer(kind sentry.ItemType, contentType string, elements int) container {
	memory := containers.Get().(*[]byte)
	writer := event.NewContainerWriter(*memory, e.limit())
	return container{tosentry.Container{ContainerWriter: writer, Kind: kind, ContentType: contentType, Elements: elements}, memory}
}

func (c *container) release() {
	*c.memory = c.Scratch()
	containers.Put(c.memory)
}

// containers pools the memory of containers, at most a megabyte each: growing it would take longer
// than writing the content.
var containers = sync.Pool{New: func() any { return new([]byte) }}

// source is a resource and a scope, with the data that each element repeats.
type source struct {
	*tosentry.Resource
	attr.Identity
	names   int // bytes of the identity in an item
	scope   pcommon.InstrumentationScope
	shared  []event.Attribute // set by share
	json    []byte            // shared as members of an object
	session string            // of the process; "" = not computed yet
	hour    uint64            // of trace
	trace   string            // for elements without a trace; "" = not computed yet
}

// traceID returns the trace of an element. Sentry requires one, so elements without a trace share
// one per process and hour, which lets Sentry show them together.
func (s *source) traceID(id pcommon.TraceID, nanos uint64, o *tosentry.ExportOptions) (text string, synthetic bool) {
	if !id.IsEmpty() {
		return attr.TraceText(id), false
	}
	hour := nanos / (3600 * attr.NanosPerSecond)
	if s.trace != "" && s.hour == hour {
		return s.trace, true
	}
	if s.session == "" {
		s.session = attr.ProfilerSession(s.Map, o.ProfilerIDAttributes, true)
	}
	s.hour, s.trace = hour, attr.HashID("trace", s.session, strconv.FormatUint(hour, 10))
	return s.trace, true
}

// timestamp returns the first time that is set, else the time of receipt.
func (e *exporter) timestamp(times ...pcommon.Timestamp) jsonscan.Timestamp {
	for _, at := range times {
		if stated := attr.TimeOf(at); stated.Set {
			return stated
		}
	}
	return jsonscan.Timestamp{UnixNano: e.options.ReceivedNano, Set: true}
}

// newSource returns a source with its identity and its other resource attributes, for which
// Sentry's format has no field except in the elements.
func newSource(resource *tosentry.Resource, scope pcommon.InstrumentationScope, o *tosentry.ExportOptions) *source {
	id := tosentry.InScope(tosentry.ReadIdentity(resource.Map), scope, *o)
	return &source{Resource: resource, scope: scope, Identity: id, names: id.NameBytes()}
}

// identity returns the identity for an item, without names if the output would exceed its limit.
func (e *exporter) identity(s *source) attr.Identity {
	if !e.Repeats(&e.copies, s.names) {
		return s.WithoutNames(e.options.SDK)
	}
	return s.Identity
}

// share sets the attributes that elements repeat. Most messages with events have no elements.
func (s *source) share() {
	s.EachField(false, s.text)
	s.text(semconv.SentryPlatform, s.Platform)
	if !s.FromSentry {
		s.text(semconv.InstrumentationName, s.scope.Name())
		s.text(semconv.InstrumentationVersion, s.scope.Version())
	}
	s.shared = append(s.shared, s.Typed...)
	s.json = event.AppendMembers([]byte{'{'}, s.shared)[1:]
}

func (s *source) text(key, text string) {
	if text != "" {
		s.shared = append(s.shared, event.Attribute{Key: key, Type: "string", Value: attr.JsonString(text)})
	}
}

// withShared adds the attributes that an element repeats, and whose keys it does not have: usually
// all of them, as JSON. It omits and counts them if the output would exceed its limit.
func (e *exporter) withShared(all []event.Attribute, s *source, own pcommon.Map) ([]event.Attribute, []byte) {
	if s.json == nil {
		s.share()
	}
	if !e.Repeats(&e.copies, len(s.json)) {
		return all, nil
	}
	taken := keysOf(own)
	if !slices.ContainsFunc(s.shared, func(a event.Attribute) bool { return taken(a.Key) }) {
		return all, s.json
	}
	for i := range s.shared {
		if !taken(s.shared[i].Key) {
			all = append(all, s.shared[i])
		}
	}
	return all, nil
}

// keysOf returns a function that reports whether an attribute with a key exists.
func keysOf(attrs pcommon.Map) func(key string) bool {
	if attrs.Len() <= fewAttributes {
		return func(key string) bool { _, ok := attrs.Get(key); return ok }
	}
	keys := make(map[string]bool, attrs.Len())
	for key := range attrs.All() {
		keys[key] = true
	}
	return func(key string) bool { return keys[key] }
}

// fewAttributes is the number of attributes up to which a search is faster than a map.
const fewAttributes = 32

func flag(key string) event.Attribute {
	return event.Attribute{Key: key, Type: "boolean", Value: []byte("true")}
}
