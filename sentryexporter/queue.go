// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
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

// categoryQueue is the collector's queue for the envelopes that one rate limit stops: a limit on
// one category never delays another.
//
// A consumer of the queue keeps a request until it is sent or dropped, also while the request waits
// to be sent again: so a request that waits is in the storage of the queue, counts against its
// size, and survives a kill. A request that waits does not occupy one of the num_consumers that are
// configured: those are the posts. The queue has maxWaiting more consumers than that.
type categoryQueue struct {
	*sentryExporter
	helper    component.Component // exporterhelper's: the queue with its consumers
	consume   func(context.Context) error
	category  sentry.Category
	consumers int           // of the queue, 0 = there is none
	posts     chan struct{} // a place for each envelope that is posted at a time; nil = any number
	retries   chan struct{} // likewise, of those that failed before: half of posts, since each may take until the timeout

	mu      sync.Mutex
	busy    int        // consumers that have a request
	waiting []*attempt // of requests that failed, oldest first
}

// maxWaiting is how many requests may wait in each queue while others are sent. More wait in the
// queue, behind those that relieve drops or sends again. Requests of a queue in storage are in
// memory while they wait.
const maxWaiting = 30

// addQueue adds the queue of a category. The first one keeps the name of the exporter, in its
// metrics and in the storage.
func (e *sentryExporter) addQueue(category sentry.Category) *categoryQueue {
	q := &categoryQueue{sentryExporter: e, category: category}
	if e.cfg.Queue.HasValue() {
		posts := max(1, e.cfg.Queue.Get().NumConsumers)
		q.consumers = posts + maxWaiting
		q.posts, q.retries = make(chan struct{}, posts), make(chan struct{}, max(1, posts/2))
	}
	e.queues = append(e.queues, q)
	return q
}

// queueOf is the queue of the first envelope's category. A request has more than one envelope only
// if an earlier version stored it.
func (e *sentryExporter) queueOf(r *request) *categoryQueue {
	for _, q := range e.queues {
		if sentry.LimitedBy(&r.Envelopes[0].Item.Header)[0] == q.category {
			return q
		}
	}
	return e.queues[0]
}

// queueSettings are those of the exporter. Its other queues have names of their own.
func (q *categoryQueue) queueSettings() exporter.Settings {
	set := q.settings
	if q != q.queues[0] {
		name := string(q.category)
		if set.ID.Name() != "" {
			name = set.ID.Name() + "." + name
		}
		set.ID = component.NewIDWithName(set.ID.Type(), name)
	}
	return set
}

// options of exporterhelper. There is no timeout for a request: the HTTP client has one for each
// post. Its retries never send a request again: push does. They are what keeps a request in the
// storage if push is interrupted by a shutdown.
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

// enqueueAll adds requests. The error is the last one; the first one that is not permanent ends it.
func (q *categoryQueue) enqueueAll(ctx context.Context, requests []*request) (permanent error) {
	for _, r := range requests {
		if err := q.enqueue(ctx, r); err != nil {
			if !consumererror.IsPermanent(err) {
				return err
			}
			permanent = err
		}
	}
	return permanent
}

// enqueue adds a request to the queue, or sends it if there is none.
//
// Exporterhelper makes requests of messages itself; ours are ready, and there are several of a
// message.
func (q *categoryQueue) enqueue(ctx context.Context, r *request) error {
	return q.consume(context.WithValue(ctx, requestKey{}, r))
}

type requestKey struct{}

// requestOf is the request that enqueue adds.
func requestOf[T any](ctx context.Context, _ T) (xexporterhelper.Request, error) {
	return ctx.Value(requestKey{}).(*request), nil
}

// addBusy notes that a consumer has a request.
func (q *categoryQueue) addBusy(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy += n
}

// acquire takes a place of those that there are, and returns what frees it.
func acquire(places chan struct{}) (free func()) {
	if places == nil {
		return func() {}
	}
	places <- struct{}{}
	return func() { <-places }
}
