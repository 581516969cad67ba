// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/health"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// request is an entry of the queue: one envelope of a message. It contains the envelope instead of
// OTLP, so that bytes and IDs are the same for each post.
//
// The storage encodes it with gob. A change of its fields, or of nested fields, that gob cannot
// decode requires a new requestVersion.
type request struct {
	Version   int // of the format; 0 = all envelopes of a message in one request
	Count     int // samples or spans of the message, for the collector's exporter metrics
	Envelopes []envelope

	// Of a provisional event: see held.go. A HeldUntil of 0 means that it is sent without a delay.
	HeldUntil int64 // Unix nanoseconds
	Failure   [24]byte

	// Of the first envelope. Those before it were sent or dropped.
	attempts    health.Message
	begun       time.Time   // time of the first attempt
	stopWaiting func() bool // ends the count in categoryQueue.waiting; nil = does not wait

	lost error // of the last envelope that was dropped
}

// requestVersion is the latest version. A build that knows only version 1 would send one of several
// updates of sessions, and times without their drift: these have version 2, which it counts as
// unreadable.
const requestVersion = 2

// newRequest returns a request with the lowest version that all builds read as it is.
func newRequest(count int, e envelope) *request {
	r := &request{Version: 1, Count: count, Envelopes: []envelope{e}}
	if e.DriftMilli != 0 {
		r.Version = requestVersion
	}
	return r
}

// absorb adds an item to the only envelope, see envelope.absorb.
func (r *request) absorb(count int, item *tosentry.Outgoing) bool {
	if !r.Envelopes[0].absorb(item) {
		return false
	}
	r.Version = requestVersion
	r.Count += count
	return true
}

// envelope is one item with the fields of its envelope header, or several updates of sessions.
// Sentry accepts one item of the other types per envelope.
type envelope struct {
	EventID string                         // of transactions; "" = none
	Trace   *sentry.DynamicSamplingContext // of span containers; nil = none
	Item    sentry.Item
	More    []sentry.Item // updates of sessions: see absorb
	Via     string        // collectors that forwarded the data: see loopguard
	// DriftMilli is by how many milliseconds the times in the item are behind; 0 = not at all.
	DriftMilli int64
	Client     string // SDK that the credentials name; "" = the exporter
	Count      int    // observations of a profile, or spans: of a container, or of a transaction including its root

	halvings int // how often the original chunk was halved
}

var _ xexporterhelper.Request = (*request)(nil)

// ItemsCount returns the number of samples or spans.
func (r *request) ItemsCount() int { return r.Count }

// BytesSize returns the size of the payloads.
func (r *request) BytesSize() (size int) {
	for i := range r.Envelopes {
		size += r.Envelopes[i].size()
	}
	return size
}

// items returns the items of the envelope.
func (e *envelope) items() []sentry.Item { return append([]sentry.Item{e.Item}, e.More...) }

// size returns the size of the payloads.
func (e *envelope) size() (size int) {
	size = len(e.Item.Payload)
	for i := range e.More {
		size += len(e.More[i].Payload)
	}
	return size
}

// absorb adds an update of a session to an envelope with others: ingest accepts as many as
// MaxOutgoingSessions. It reports whether it did.
func (e *envelope) absorb(item *tosentry.Outgoing) bool {
	if item.Header.Type != sentry.ItemSession || e.Item.Header.Type != sentry.ItemSession || e.DriftMilli != item.DriftMilli || e.Client != item.Client ||
		1+len(e.More) >= sentry.MaxOutgoingSessions || e.size()+len(item.Payload) > sentry.MaxOutgoingElements {
		return false
	}
	e.More = append(e.More, item.Item)
	e.Count += item.Count
	return true
}

// MergeSplit implements batching, which Validate rejects.
func (*request) MergeSplit(context.Context, int, exporterhelper.RequestSizerType, xexporterhelper.Request) ([]xexporterhelper.Request, error) {
	return nil, errors.New("cannot batch envelopes")
}

// requestEncoding encodes requests for the storage. It counts unreadable requests, because the
// queue drops them silently.
type requestEncoding struct{ unreadable func(error) }

func (requestEncoding) Marshal(_ context.Context, req xexporterhelper.Request) ([]byte, error) {
	var text bytes.Buffer
	err := gob.NewEncoder(&text).Encode(req.(*request))
	return collector.AppendChecksum(text.Bytes()), err
}

func (e requestEncoding) Unmarshal(stored []byte) (context.Context, xexporterhelper.Request, error) {
	if stored == nil {
		return context.Background(), nil, errNotStored
	}
	r := &request{}
	text, err := collector.VerifyChecksum(stored)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(text)).Decode(r)
	}
	if err == nil && r.Version > requestVersion {
		err = fmt.Errorf("format %d is from a later version, expected at most %d", r.Version, requestVersion)
	}
	if err != nil {
		e.unreadable(err)
		return context.Background(), nil, fmt.Errorf("cannot read a request from the queue's storage: %w", err)
	}
	return context.Background(), r, nil
}

// errNotStored makes the queue continue with the next number if it could not store a request; it
// rejects that request.
var errNotStored = errors.New("there is no such request in the queue's storage")
