// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
)

// Examined is an envelope and its translation, which is the same as in the receiver.
type Examined struct {
	*sentry.Envelope
	Items    []ExaminedItem // in the order of the envelope
	Links    []sentryitems.Link
	Unlinked []sentryitems.Unlinked // V1 profiles without a transaction
}

// ExaminedItem is an item with its translation.
type ExaminedItem struct {
	*sentry.Item
	Known bool // the receiver translates items of this type
	sentryitems.Result
}

// Examine translates all items of an envelope, as a receiver with a pipeline for every signal does.
func Examine(envelope *sentry.Envelope, settings sentryitems.Settings, now time.Time) *Examined {
	if sent := envelope.Header.SentAt; !sent.IsZero() {
		now = sent // a stored envelope is not late
	}
	sdk := sentry.ClientSDK(envelope.Header.SDK)
	every := func(pipeline.Signal) bool { return true }
	t := sentryitems.New(envelope, sentryitems.Sender{ProjectID: "1", SDK: sdk}, settings, every, now)

	results := map[*sentry.Item]ExaminedItem{}
	for item := range sentryitems.Ordered(envelope.Items) {
		results[item] = examineItem(t, item)
	}
	out := &Examined{Envelope: envelope}
	for i := range envelope.Items {
		out.Items = append(out.Items, results[&envelope.Items[i]])
	}
	out.Links, out.Unlinked = t.TakeLinks()
	out.countForeignThreads(t.TakeForeignThreads())
	return out
}

// countForeignThreads counts spans of threads that are not in the Android trace as losses of the
// transaction, as the receiver does.
func (e *Examined) countForeignThreads(n int) {
	for i := range e.Items {
		if n > 0 && e.Items[i].Header.Type == sentry.ItemTransaction {
			e.Items[i].Fields = discard.AddFlaw(e.Items[i].Fields, semconv.ThreadID, n)
			return
		}
	}
}

func examineItem(t *sentryitems.Translation, item *sentry.Item) ExaminedItem {
	itemType, known := sentryitems.Types[item.Header.Type]
	out := ExaminedItem{Item: item, Known: known}
	if !known {
		return out
	}
	if out.Unusable = itemType.Oversize(item); out.Unusable == nil {
		out.Result = t.Translate(item)
	}
	return out
}

// ReadEnvelope reads an envelope, or an event in the older format without an envelope. After an
// error, the envelope holds the items before it.
func ReadEnvelope(data []byte) (*sentry.Envelope, error) {
	envelope, err := sentry.ReadEnvelope(data)
	if len(envelope.Items) == 0 && examine(data).isEvent() {
		if event, storeErr := sentry.ReadStore(data); storeErr == nil {
			return event, nil
		}
	}
	return envelope, err
}

// ItemLoss is dropped data, for all lists of a Result.
type ItemLoss struct {
	Count  int
	What   string
	Reason string
}

// Losses returns the losses of an item that is usable.
func (i *ExaminedItem) Losses() (all []ItemLoss) {
	add := func(what string, losses []discard.Loss) {
		for _, l := range losses {
			all = append(all, ItemLoss{l.Count, what, string(l.Reason)})
		}
	}
	add("sample", i.Samples)
	add("element", i.Elements)
	for _, flaw := range i.Fields {
		if flaw.Field == event.FieldUnmapped {
			all = append(all, ItemLoss{flaw.Count, "field", flaw.Field + ": " + flaw.Keys})
			continue
		}
		all = append(all, ItemLoss{flaw.Count, "value", "wrong type or form of the field " + flaw.Field})
	}
	return all
}
