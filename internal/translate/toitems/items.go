// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"strconv"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	sentryevent "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// Options configure the translation.
type Options struct {
	tosentry.ExportOptions
}

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
	options Options
	copies  int        // number of bytes that items may still repeat, such as resource attributes
	size    func() int // of the message; nil = already added to copies
	memory
}

// memory is reused for the next message.
type memory struct {
	resource tosentry.Resource
	scratch  attr.Scratch // values of the current element or event
}

// newExporter returns an exporter for a message with the given size, which is slow to compute and
// rarely needed.
func newExporter(o Options, size func() int, m memory) exporter {
	return exporter{options: o, copies: attr.ExportBound(0) / 2, size: size, memory: m}
}

func (e *exporter) lose(reason discard.Reason) { e.Lost = discard.AddLoss(e.Lost, reason, 1) }

// spend reports whether the output may repeat a number of bytes.
func (e *exporter) spend(size int) bool {
	if size > e.copies && e.size != nil {
		e.copies += (attr.ExportBound(e.size()) - attr.ExportBound(0)) / 2
		e.size = nil
	}
	if size > e.copies {
		return false
	}
	e.copies -= size
	return true
}

// limit returns the size limit of an item.
func (e *exporter) limit() int { return e.options.AtMost(sentry.MaxOutgoingElements) }

// add adds an item, unless it is too large.
func (e *exporter) add(kind sentry.ItemType, eventID string, payload []byte) {
	if len(payload) > e.limit() {
		e.lose(jsonscan.ReasonTooLarge)
		return
	}
	e.Items = append(e.Items, tosentry.Outgoing{})
	item := &e.Items[len(e.Items)-1] // an item has 200 bytes: a copy takes longer than the fields
	item.Header.Type, item.Header.ContentType, item.Payload = kind, sentry.ContentTypeJSON, payload
	item.EventID, item.Count = eventID, 1
}

// container collects elements of one type in items.
type container struct {
	*sentryevent.ContainerWriter
	memory   *[]byte
	header   sentry.ItemHeader
	elements int // limit of an item

	driftMilli int64 // of the elements, see tosentry.Outgoing
}

// newContainer returns a container. release returns its memory after the message.
func (e *exporter) newContainer(kind sentry.ItemType, contentType string, elements int) container {
	memory := containers.Get().(*[]byte)
	return container{
		ContainerWriter: sentryevent.NewContainerWriter(*memory, e.limit()), memory: memory,
		header: sentry.ItemHeader{Type: kind, ContentType: contentType}, elements: elements,
	}
}

func (c *container) release() {
	*c.memory = c.Scratch()
	containers.Put(c.memory)
}

// containers pools the memory of containers, at most a megabyte each: growing it would take longer
// than writing the content.
var containers = sync.Pool{New: func() any { return new([]byte) }}

// put adds an element to the container.
func (e *exporter) put(c *container, element sentryevent.Element) {
	if c.Len() == c.elements {
		e.flush(c)
	}
	if c.Add(element) {
		return
	}
	e.flush(c)
	if !c.Add(element) {
		e.lose(jsonscan.ReasonTooLarge)
	}
}

// flush converts the elements of the container to an item.
func (e *exporter) flush(c *container) {
	count := c.Len()
	if count == 0 {
		return
	}
	header := c.header
	header.ItemCount = jsonscan.Some(count)
	e.Items = append(e.Items, tosentry.Outgoing{
		Item:  sentry.Item{Header: header, Payload: append([]byte(nil), c.Finish()...)},
		Count: count, DriftMilli: c.driftMilli,
	})
}

// source is a resource and a scope, with the data that each element repeats.
type source struct {
	*tosentry.Resource
	attr.Identity
	names   int // bytes of the identity in an item
	scope   pcommon.InstrumentationScope
	shared  []sentryevent.Attribute // set by share
	json    []byte                  // shared as members of an object
	session string                  // of the process; "" = not computed yet
	hour    uint64                  // of trace
	trace   string                  // for elements without a trace; "" = not computed yet
}

// traceID returns the trace of an element. Sentry requires one, so elements without a trace share
// one per process and hour, which lets Sentry show them together.
func (s *source) traceID(id pcommon.TraceID, nanos uint64, o *Options) (text string, synthetic bool) {
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
		if at != 0 && uint64(at) < jsonscan.MaxUnixNano {
			return jsonscan.Timestamp{UnixNano: uint64(at), Set: true}
		}
	}
	return jsonscan.Timestamp{UnixNano: e.options.ReceivedNano, Set: true}
}
