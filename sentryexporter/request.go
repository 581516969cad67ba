// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// request is what the queue holds: one envelope of those that a message of the pipeline became. It
// holds an envelope rather than OTLP so that it has the same bytes, and with them the same ids,
// each time.
//
// Gob writes it to the storage: a change of its fields, or of those in them, that gob does not
// bridge needs another requestVersion.
type request struct {
	Version   int // of the format; 0 is of builds that put all envelopes of a message into one request
	Count     int // samples or spans of the message, for the metrics of all exporters
	Envelopes []envelope
}

const requestVersion = 1

// envelope is one item with what stands in front of it in the header. Sentry takes one profile
// chunk or transaction in each.
type envelope struct {
	EventID string                         // of transactions; "" = none
	Trace   *sentry.DynamicSamplingContext // of span containers; nil = none
	Item    sentry.Item
	Count   int // observations of a profile, or spans: those of a container, or of a transaction with its own
}

var _ xexporterhelper.Request = (*request)(nil)

// ItemsCount is in samples or spans.
func (r *request) ItemsCount() int { return r.Count }

// BytesSize is the size of the payloads.
func (r *request) BytesSize() (size int) {
	for i := range r.Envelopes {
		size += len(r.Envelopes[i].Item.Payload)
	}
	return size
}

// MergeSplit is for batches, which Validate refuses.
func (*request) MergeSplit(context.Context, int, exporterhelper.RequestSizerType, xexporterhelper.Request) ([]xexporterhelper.Request, error) {
	return nil, errors.New("cannot batch envelopes")
}

// requestEncoding is how the queue stores requests on disk. What cannot be read from there the
// queue drops without a word.
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
		err = fmt.Errorf("format %d of a later version, expected at most %d", r.Version, requestVersion)
	}
	if err != nil {
		e.unreadable(err)
		return context.Background(), nil, fmt.Errorf("cannot read a request from the queue's storage: %w", err)
	}
	return context.Background(), r, nil
}

// errNotStored: the queue goes on to the next number if it cannot store a request, which it refuses
// then.
var errNotStored = errors.New("there is no such request in the queue's storage")
