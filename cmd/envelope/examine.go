// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// examined is an envelope with the translation by the receiver.
type examined struct {
	*sentry.Envelope
	items    []examinedItem // in the order of the envelope
	links    []sentryitems.Link
	unlinked []sentryitems.Unlinked // V1 profiles without a transaction
}

// examinedItem is an item with its translation.
type examinedItem struct {
	*sentry.Item
	known bool // the receiver translates items of this type
	sentryitems.Result
}

// examine translates all items of an envelope, as a receiver with a pipeline for every signal does.
func examine(envelope *sentry.Envelope, settings sentryitems.Settings, now time.Time) *examined {
	if sent := envelope.Header.SentAt; !sent.IsZero() {
		now = sent // a stored envelope is not late
	}
	sdk := sentry.ClientSDK(envelope.Header.SDK)
	every := func(pipeline.Signal) bool { return true }
	t := sentryitems.New(envelope, sentryitems.Sender{ProjectID: "1", SDK: sdk}, settings, every, now)

	results := map[*sentry.Item]examinedItem{}
	for item := range sentryitems.Ordered(envelope.Items) {
		results[item] = examineItem(t, item)
	}
	out := &examined{Envelope: envelope}
	for i := range envelope.Items {
		out.items = append(out.items, results[&envelope.Items[i]])
	}
	out.links, out.unlinked = t.TakeLinks()
	out.countForeignThreads(t.TakeForeignThreads())
	return out
}

// countForeignThreads counts spans of threads that are not in the trace of Android as losses of the
// transaction, like the receiver.
func (e *examined) countForeignThreads(n int) {
	for i := range e.items {
		if n > 0 && e.items[i].Header.Type == sentry.ItemTransaction {
			e.items[i].Fields = discard.AddFlaw(e.items[i].Fields, semconv.ThreadID, n)
			return
		}
	}
}

func examineItem(t *sentryitems.Translation, item *sentry.Item) examinedItem {
	itemType, known := sentryitems.Types[item.Header.Type]
	out := examinedItem{Item: item, known: known}
	if !known {
		return out
	}
	if out.Unusable = itemType.Oversize(item); out.Unusable == nil {
		out.Result = t.Translate(item)
	}
	return out
}

// platformKey is in every event, and in no header of an envelope.
var platformKey = []byte(`"platform"`)

// readEnvelope reads an envelope, or an event in the older format without an envelope. After an
// error, the envelope holds the items before it.
func readEnvelope(data []byte) (*sentry.Envelope, error) {
	envelope, err := sentry.ReadEnvelope(data)
	if len(envelope.Items) == 0 && bytes.Contains(data, platformKey) {
		if event, storeErr := sentry.ReadStore(data); storeErr == nil {
			return event, nil
		}
	}
	return envelope, err
}

// loss is dropped data, for all lists of a Result.
type loss struct {
	count  int
	what   string
	reason string
}

func (i *examinedItem) losses() (all []loss) {
	add := func(what string, losses []discard.Loss) {
		for _, l := range losses {
			all = append(all, loss{l.Count, what, string(l.Reason)})
		}
	}
	add("sample", i.Samples)
	add("element", i.Elements)
	for _, flaw := range i.Fields {
		all = append(all, loss{flaw.Count, "value", "wrong type or form of the field " + flaw.Field})
	}
	return all
}
