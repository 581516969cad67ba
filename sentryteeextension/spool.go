// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/schedule"
)

const (
	keyLosses = "losses"

	// maxStoredBody is the maximum size of a stored body. Minidumps are larger, but streamed; the
	// largest recorded envelope is 1.3 MB.
	maxStoredBody = 20 << 20
)

// openSpool opens the storage, and queues the requests of earlier runs. Losses are stored in the
// transactions of their requests, so that each is reported once.
func (f *forwarder) openSpool(ctx context.Context, host component.Host, tee component.ID) error {
	client, err := collector.StorageClient(ctx, host, *f.cfg.Storage, component.KindExtension, tee, "requests")
	if err != nil {
		return err
	}
	f.spool, err = journal.Open(ctx, client, journal.Options{
		Failed: f.telemetry.storageFailed,
		State:  &journal.State{Key: keyLosses, Encode: f.reports.encode, Decode: f.reports.decode},
	})
	if err != nil {
		return err
	}
	for number, record := range f.spool.Earlier(ctx, false) {
		r, err := requestOf(record)
		if err != nil {
			f.spool.Unreadable(number, err)
			continue
		}
		size := record.Size()
		f.storedBytes += size
		f.schedule.Wait(&entry{Request: schedule.Request{Project: r.Project, Received: r.Received, Weight: size}, endpoint: r.Endpoint, number: number})
	}
	return nil
}

// maxStoreWait is how long a client waits for a busy disk. Then its request is only in memory.
const maxStoreWait = time.Second

// store stores a request and returns its number and size. Its losses no longer have to be reported.
func (f *forwarder) store(ctx context.Context, r *request) (number uint64, size int64, err error) {
	record, err := recordOf(r)
	if err != nil {
		return 0, 0, err
	}
	number, err = f.spool.Put(ctx, record, f.reports.change(r.key(), omit.LossesOf(r.Losses), -1))
	return number, record.Size(), err
}

// read reads a stored request. It does not wait for a storage that ignores the context.
func (f *forwarder) read(ctx context.Context, number uint64) (*request, error) {
	type result struct {
		record journal.Record
		err    error
	}
	done := make(chan result, 1)
	go func() {
		record, err := f.spool.Get(ctx, number)
		done <- result{record, err}
	}()
	select {
	case got := <-done:
		if got.err != nil {
			return nil, got.err
		}
		return requestOf(got.record)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// recordOf returns the stored form of a request: the head as JSON, and the body.
func recordOf(r *request) (journal.Record, error) {
	head, err := json.Marshal(r)
	return journal.Record{Head: head, Body: r.Body}, err
}

// requestOf is the inverse of recordOf.
func requestOf(record journal.Record) (*request, error) {
	r := &request{Body: record.Body}
	if err := json.Unmarshal(record.Head, r); err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	return r, nil
}
