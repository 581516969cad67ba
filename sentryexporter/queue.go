// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// categoryQueue is the collector's queue for the envelopes of one rate limit category, so that a
// limit on one category never delays another.
//
// A consumer of the queue keeps a request until it is sent or dropped, including while it waits for
// a retry. A waiting request therefore remains in the storage of the queue, counts toward its size,
// and survives a kill. It does not occupy one of the configured num_consumers, which limit
// concurrent posts: the queue has maxWaiting additional consumers.
type categoryQueue struct {
	*sentryExporter
	helper   helper
	category sentry.Category
	name     string        // in metrics and in the storage
	posts    chan struct{} // one slot per concurrent post; nil = unlimited
	retries  chan struct{} // the same for retries: half as many as posts, because each may take until the timeout
	waiting  atomic.Int64  // requests that wait for a retry after a failure
}

// maxWaiting limits the requests in each queue that wait while others are sent; see retry. Waiting
// requests are in memory, even with a storage.
const maxWaiting = 30

// helper is exporterhelper's queue, with its consumers and retries. The exporters that
// exporterhelper creates have this method, but their interface has only that of the signal, which
// converts each message to one request. Here, a message has several.
type helper interface {
	component.Component
	Send(context.Context, xexporterhelper.Request) error
}

// createHelper creates a helper, whose metrics and storage are those of a signal.
type createHelper func(context.Context, exporter.Settings, xexporterhelper.RequestConsumeFunc, ...exporterhelper.Option) (helper, error)

// helperOf returns exporterhelper's function for a signal.
func helperOf[M any, C component.Component](
	create func(context.Context, exporter.Settings, xexporterhelper.RequestConverterFunc[M], xexporterhelper.RequestConsumeFunc, ...exporterhelper.Option) (C, error),
) createHelper {
	return func(ctx context.Context, set exporter.Settings, push xexporterhelper.RequestConsumeFunc, options ...exporterhelper.Option) (helper, error) {
		unused := func(context.Context, M) (xexporterhelper.Request, error) { return nil, errors.ErrUnsupported }
		created, err := create(ctx, set, unused, push, options...)
		if err != nil {
			return nil, err
		}
		h, ok := component.Component(created).(helper)
		if !ok {
			return nil, fmt.Errorf("%T has no method Send: this version of exporterhelper is not supported", created)
		}
		return h, nil
	}
}

// addQueues adds queues with the names of their categories.
func (e *sentryExporter) addQueues(ctx context.Context, create createHelper, categories ...sentry.Category) (err error) {
	for _, category := range categories {
		err = errors.Join(err, e.addQueue(ctx, create, category, string(category)))
	}
	return err
}

// addQueue adds the queue of a category. The first queue uses the name of the exporter in metrics
// and in the storage.
func (e *sentryExporter) addQueue(ctx context.Context, create createHelper, category sentry.Category, name string) (err error) {
	q := &categoryQueue{sentryExporter: e, category: category, name: name}
	e.queues = append(e.queues, q)
	queue := e.cfg.Queue
	if queue.HasValue() {
		settings := *queue.Get()
		posts := max(1, settings.NumConsumers)
		q.posts, q.retries = make(chan struct{}, posts), make(chan struct{}, max(1, posts/2))
		settings.NumConsumers = posts + maxWaiting
		queue = configoptional.Some(settings)
	}
	retry := e.cfg.Retry
	retry.MaxElapsedTime = 0 // see retry
	q.helper, err = create(ctx, q.queueSettings(), q.push,
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{Timeout: 0}), // the HTTP client has one per post
		exporterhelper.WithRetry(retry),
		xexporterhelper.WithQueueBatch(queue, xexporterhelper.QueueBatchSettings{Encoding: requestEncoding{e.countUnreadable}}))
	return err
}

// queueOf returns the queue for the category of the first envelope. Only requests that an earlier
// version stored have several envelopes. The first queue sends client reports, which have no
// category.
func (e *sentryExporter) queueOf(r *request) *categoryQueue {
	for _, q := range e.queues {
		if (q.name == heldQueue) == (r.HeldUntil != 0) && slices.Contains(sentry.LimitedBy(&r.Envelopes[0].Item.Header), q.category) {
			return q
		}
	}
	return e.queues[0]
}

// queueSettings returns the exporter's settings with the name of the queue: that of the exporter,
// of the project unless it is the default, and of the category unless it is the first.
func (q *categoryQueue) queueSettings() exporter.Settings {
	set := q.settings
	var name []string
	if set.ID.Name() != "" {
		name = append(name, set.ID.Name())
	}
	if !q.isDefault {
		name = append(name, q.project)
	}
	if q != q.queues[0] {
		name = append(name, q.name)
	}
	if len(name) > 0 {
		set.ID = component.NewIDWithName(set.ID.Type(), strings.Join(name, "."))
	}
	interrupted := &q.interrupted
	if q.storage() == nil {
		interrupted = nil
	}
	set.Logger = newHelperLog(set.Logger, q.logger, interrupted)
	return set
}

// storage returns the storage of the queue, or nil.
func (e *sentryExporter) storage() *component.ID {
	if !e.cfg.Queue.HasValue() {
		return nil
	}
	return e.cfg.Queue.Get().StorageID
}

// notQueued is the error for requests that were not added to their queues.
type notQueued struct {
	error
	requests []*request
}

func (n *notQueued) Unwrap() error { return n.error }

// enqueueAll adds requests to the queue, or sends them if there is none. It stops at the first
// error that is not permanent, which is a *notQueued. A permanent error, without a queue, is that
// of an envelope that push has dropped and counted; see convert.go.
func (q *categoryQueue) enqueueAll(ctx context.Context, requests []*request) error {
	for i, r := range requests {
		if err := q.helper.Send(ctx, r); err != nil && !collector.IsPermanent(err) {
			return &notQueued{err, requests[i:]}
		}
	}
	return nil
}

// acquire waits for a slot and returns a function that releases it.
func acquire(slots chan struct{}) (free func()) {
	if slots == nil {
		return func() {}
	}
	slots <- struct{}{}
	return func() { <-slots }
}
