// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"

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
	helper    component.Component // exporterhelper's queue and consumers
	consume   func(context.Context) error
	category  sentry.Category
	name      string        // in metrics and in the storage
	consumers int           // number of consumers; 0 = no queue
	posts     chan struct{} // one slot per concurrent post; nil = unlimited
	retries   chan struct{} // the same for retries: half as many as posts, because each may take until the timeout

	mu      sync.Mutex
	busy    int        // number of consumers with a request
	waiting []*attempt // failed requests, oldest first
}

// maxWaiting limits the requests in each queue that wait while others are sent. Further requests
// remain in the queue until unblock drops or posts the waiting ones. Waiting requests are in
// memory, even with a storage.
const maxWaiting = 30

// addQueue adds the queue of a category. The first queue uses the name of the exporter in metrics
// and in the storage.
func (e *sentryExporter) addQueue(category sentry.Category) *categoryQueue {
	q := &categoryQueue{sentryExporter: e, category: category, name: string(category)}
	if e.cfg.Queue.HasValue() {
		posts := max(1, e.cfg.Queue.Get().NumConsumers)
		q.consumers = posts + maxWaiting
		q.posts, q.retries = make(chan struct{}, posts), make(chan struct{}, max(1, posts/2))
	}
	e.queues = append(e.queues, q)
	return q
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
	if q.storage() != nil {
		set.Logger = countInterruptions(set.Logger, &q.interrupted)
	}
	return set
}

// storage returns the storage of the queue, or nil.
func (e *sentryExporter) storage() *component.ID {
	if !e.cfg.Queue.HasValue() {
		return nil
	}
	return e.cfg.Queue.Get().StorageID
}

// options returns the options of exporterhelper. Requests have no timeout, because the HTTP client
// has one per post. exporterhelper's retries are enabled only so that a request stays in the
// storage if a shutdown interrupts push, which does all retries.
func (q *categoryQueue) options() []exporterhelper.Option {
	queue := q.cfg.Queue
	if queue.HasValue() {
		settings := *queue.Get()
		settings.NumConsumers = q.consumers
		queue = configoptional.Some(settings)
	}
	retry := configretry.BackOffConfig{Enabled: q.cfg.Retry.Enabled, InitialInterval: time.Hour, MaxInterval: time.Hour, Multiplier: 1}
	return []exporterhelper.Option{
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{Timeout: 0}),
		exporterhelper.WithRetry(retry),
		xexporterhelper.WithQueueBatch(queue, xexporterhelper.QueueBatchSettings{Encoding: requestEncoding{q.countUnreadable}}),
	}
}

// notQueued is the error for requests that were not added to their queues.
type notQueued struct {
	error
	requests []*request
}

func (n *notQueued) Unwrap() error { return n.error }

// enqueueAll adds requests. It stops at the first error that is not permanent, which is a
// *notQueued. A permanent error, without a queue, is that of an envelope that push has dropped and
// counted; see convert.go.
func (q *categoryQueue) enqueueAll(ctx context.Context, requests []*request) error {
	for i, r := range requests {
		if err := q.enqueue(ctx, r); err != nil && !consumererror.IsPermanent(err) {
			return &notQueued{err, requests[i:]}
		}
	}
	return nil
}

// enqueue adds a request to the queue, or sends it if there is none.
//
// exporterhelper converts a message to one request; here, the requests already exist, and a message
// has several.
func (q *categoryQueue) enqueue(ctx context.Context, r *request) error {
	return q.consume(context.WithValue(ctx, requestKey{}, r))
}

type requestKey struct{}

// requestOf returns the request of enqueue.
func requestOf[T any](ctx context.Context, _ T) (xexporterhelper.Request, error) {
	return ctx.Value(requestKey{}).(*request), nil
}

// addBusy changes the number of consumers with a request.
func (q *categoryQueue) addBusy(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy += n
}

// acquire waits for a slot and returns a function that releases it.
func acquire(slots chan struct{}) (free func()) {
	if slots == nil {
		return func() {}
	}
	slots <- struct{}{}
	return func() { <-slots }
}
