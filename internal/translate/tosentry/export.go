// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"bytes"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// ExportOptions configure the translation. Only SDK is required.
type ExportOptions struct {
	SDK sentry.ClientSDK // this collector, for data without an SDK; name and version are required

	// MaxItemBytes limits the payload of an item; 0 = Sentry's limit.
	MaxItemBytes int

	// ProfilerIDAttributes are the resource attributes from which profiler IDs are derived if the
	// data has none; nil means attr.DefaultProfilerIDAttributes. Use the same attributes for
	// profiles and traces.
	ProfilerIDAttributes []string

	// Profiled states that profiles of the same processes are also exported. Spans without a
	// profiler session then refer to the session derived from their resource. Without profiles,
	// such a reference would be a dead link in Sentry.
	Profiled bool

	// WallSessions makes spans refer to the sessions of wall-clock profiles instead of CPU
	// profiles.
	WallSessions bool

	// ReceivedNano is the time of receipt, for data without a time. 0 also means that no segment is
	// too old for a transaction.
	ReceivedNano uint64

	// SpansOnly sends all spans in span containers (span v2) instead of transactions.
	SpansOnly bool
}

// AtMost returns the size limit of an item for which Sentry has the given limit.
func (o *ExportOptions) AtMost(limit int) int {
	if o.MaxItemBytes <= 0 {
		return limit
	}
	return min(o.MaxItemBytes, limit)
}

// isTooOld reports whether ingest would reject a transaction with the span, or replace its times.
func (o *ExportOptions) isTooOld(s ptrace.Span) bool {
	start, _ := timesOf(s)
	return o.ReceivedNano > 0 && start.UnixNano+sentry.MaxOutgoingTransactionAge*attr.NanosPerSecond < o.ReceivedNano
}

// Outgoing is an item ready to be sent, alone in its envelope. It depends only on the message and
// the options: translating the same message again, after a crash, yields the same items with the
// same IDs.
//
// Item.Header contains the type and, for chunks, the platform. len(Item.Payload) is the
// uncompressed size. sentry.LimitedBy returns the rate limits that apply.
type Outgoing struct {
	sentry.Item

	// EventID belongs in the envelope header; "" = none.
	EventID string
	// Trace belongs in the envelope header, where the sender adds its public key; nil = none. Span
	// containers require it.
	Trace *sentry.DynamicSamplingContext
	// DriftMilli is by how many milliseconds the times in the item are behind. The sender states it
	// with sent_at, as SDKs do, and ingest corrects the times; 0 = they are right.
	DriftMilli int64
	// Client is the SDK that the credentials of the request name, as "name/version"; "" = the
	// sender. Ingest stores it with sessions and check-ins.
	Client string
	// Count is the number of observations or spans in the item.
	Count int
}

// Export is the result for a message.
type Export struct {
	Items []Outgoing
	// Lost counts dropped observations, spans and span events by reason. A sample without
	// timestamps counts as one observation. Flaws count images, measurements and dangling
	// references that were dropped from items, and samples with derived times, because the profiler
	// stated none.
	discard.Tally
	// Clocks are the kinds of profiles with a profiler session derived from their resource.
	Clocks attr.Clocks
}

// Repeats reports whether an item may repeat data of its resource. It counts items that may not.
func (e *Export) Repeats(copies *allowance.Allowance, size int) bool {
	ok := copies.Spend(size)
	if !ok {
		e.Flaw("resource", 1)
	}
	return ok
}

// Add appends an item with one element, whose other fields the caller sets.
func (e *Export) Add(kind sentry.ItemType, contentType string, payload []byte) *Outgoing {
	e.Items = append(e.Items, Outgoing{})
	item := &e.Items[len(e.Items)-1] // an item has 200 bytes: a copy takes longer than the fields
	item.Header.Type, item.Header.ContentType, item.Payload, item.Count = kind, contentType, payload, 1
	return item
}

// Container collects elements of one type in items.
type Container struct {
	*event.ContainerWriter
	Kind        sentry.ItemType
	ContentType string
	Elements    int // limit of an item
	Trace       *sentry.DynamicSamplingContext
}

// Put adds an element to a container. It reports false if the element is too large.
func (e *Export) Put(c *Container, element event.Element) bool {
	if c.Len() < c.Elements && c.Add(element) {
		return true
	}
	e.Flush(c)
	if c.Add(element) {
		return true
	}
	e.Lose(jsonscan.ReasonTooLarge, 1)
	return false
}

// Flush converts the elements of a container to an item.
func (e *Export) Flush(c *Container) {
	count := c.Len()
	if count == 0 {
		return
	}
	item := e.Add(c.Kind, c.ContentType, bytes.Clone(c.Finish()))
	item.Header.ItemCount, item.Count, item.Trace = jsonscan.Some(count), count, c.Trace
}
