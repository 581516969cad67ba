// SPDX-License-Identifier: Apache-2.0

package downloads

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
)

// Options configure a Fetcher.
type Options struct {
	Hosts   []string // of scripts and source maps; see CheckHost
	Servers []string // URLs of debuginfod servers, in this order
	HTTP    bool     // http is allowed, not only https

	Timeout    time.Duration // of a file
	Concurrent int           // files at once
	RetryAfter time.Duration // time until a file is fetched again, whether it was found or not
	// MaxFileBytes is the maximum size of a script or source map, MaxNativeBytes that of debug
	// information, both after decompression.
	MaxFileBytes, MaxNativeBytes int64

	// Count counts a download, by outcome. err is nil if it was stored.
	Count func(outcome Outcome, file string, err error)
	// Stored is called after a download has been stored. Until it returns, the file counts as being
	// fetched.
	Stored func(context.Context)
	// Ended is called when a file is no longer being fetched.
	Ended func()
}

// Outcome is the result of a download.
type Outcome string

const (
	Stored    Outcome = "stored"
	NotFound  Outcome = "not_found"
	Forbidden Outcome = "forbidden" // a redirect or a link leads to a host that is not allowed
	TooLarge  Outcome = "too_large"
	Failed    Outcome = "failed"
)

var (
	errNotFound  = errors.New("not found")
	errForbidden = errors.New("the host is not allowed")
)

func outcomeOf(err error) Outcome {
	switch {
	case err == nil:
		return Stored
	case errors.Is(err, errNotFound):
		return NotFound
	case errors.Is(err, errForbidden):
		return Forbidden
	case errors.Is(err, filestore.ErrTooLarge):
		return TooLarge
	}
	return Failed
}

// Fetcher fetches files in the background.
type Fetcher struct {
	store *filestore.Store
	Options
	transport *http.Transport
	scripts   *client
	objects   *client
	asked     chan struct{} // the queue is not empty
	stop      context.CancelFunc
	workers   sync.WaitGroup

	mu      sync.Mutex
	queue   fairshare.Queue[tenant.Tenant, string] // files to fetch
	active  map[wanted]bool                        // in the queue, or being fetched
	running map[tenant.Tenant]int                  // number of files that are being fetched
	tried   map[wanted]*fairshare.Entry[tenant.Tenant, attempt]
	recent  fairshare.Queue[tenant.Tenant, attempt] // those of tried
}

// wanted is a file that a tenant needs: the URL of a script, or a build ID. A file that several
// tenants need is fetched for each of them, but not while it is being fetched for another.
type wanted struct {
	tenant tenant.Tenant
	key    string
}

// attempt is a file that was fetched, whether it was found or not.
type attempt struct {
	key   string
	again time.Time // from which it may be fetched again
}

const (
	// maxQueue is the maximum number of files waiting to be fetched. At the limit, a tenant that
	// has fewer files than another takes a place of the tenant with the most. A later message asks
	// again for files without a place.
	maxQueue = 256

	// maxTried limits the memory of the negative cache to 4 MiB: keys have at most maxURL bytes.
	maxTried = 4096

	// maxURL is the maximum length of a script's URL. Usual ones have about 100 bytes.
	maxURL = 1024
)

// NewFetcher returns a running fetcher.
func NewFetcher(store *filestore.Store, options Options) *Fetcher {
	transport := newTransport()
	servers := make([]string, len(options.Servers))
	for i, server := range options.Servers {
		servers[i] = hostOf(server)
	}
	f := &Fetcher{
		store: store, Options: options, transport: transport,
		scripts: newClient(transport, newHosts(options.Hosts, options.HTTP), options.Timeout),
		objects: newClient(transport, newHosts(servers, options.HTTP), options.Timeout),
		asked:   make(chan struct{}, 1), active: map[wanted]bool{}, running: map[tenant.Tenant]int{}, tried: map[wanted]*fairshare.Entry[tenant.Tenant, attempt]{},
	}
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	for range options.Concurrent {
		f.workers.Go(func() { f.work(ctx) })
	}
	return f
}

// Close stops all downloads.
func (f *Fetcher) Close() {
	f.stop()
	f.workers.Wait()
	f.transport.CloseIdleConnections()
}

// want queues a file, and reports whether it is being fetched.
func (f *Fetcher) want(w wanted) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.active[w] {
		return true
	}
	if e := f.tried[w]; e != nil && time.Now().Before(e.Value.again) {
		return false
	}
	if f.queue.Len() >= maxQueue {
		e := f.queue.LargestOldest()
		if f.queue.Use(e.Tenant()) <= f.queue.Use(w.tenant)+1 {
			return true
		}
		delete(f.active, wanted{e.Tenant(), e.Value})
		f.queue.Remove(e)
	}
	f.active[w] = true
	f.queue.Push(w.tenant, w.key, 1)
	f.signal()
	return true
}

func (f *Fetcher) signal() {
	select {
	case f.asked <- struct{}{}:
	default:
	}
}

func (f *Fetcher) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.asked:
		}
		for w, ok := f.next(); ok; w, ok = f.next() {
			err := f.fetch(ctx, w)
			if ctx.Err() != nil {
				return
			}
			f.Count(outcomeOf(err), w.key, err)
			if err == nil {
				f.Stored(ctx)
			}
			f.done(w)
			f.Ended()
		}
	}
}

// next removes the next file from the queue: that of the tenant with the fewest files that are
// being fetched.
func (f *Fetcher) next() (w wanted, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var first *fairshare.Entry[tenant.Tenant, string]
	for range f.queue.Tenants() {
		if oldest, _ := f.queue.TakeTurn(); first == nil || f.running[oldest.Tenant()] < f.running[first.Tenant()] {
			first = oldest
		}
	}
	if first == nil {
		return w, false
	}
	w = wanted{first.Tenant(), first.Value}
	f.queue.Remove(first)
	f.running[w.tenant]++
	if f.queue.Len() > 0 {
		f.signal() // to another worker
	}
	return w, true
}

func (f *Fetcher) fetch(ctx context.Context, w wanted) error {
	if strings.Contains(w.key, "://") {
		return f.fetchScript(ctx, w)
	}
	return f.fetchObject(ctx, w)
}

// folder returns the folder of a tenant, whose share of the store it is. Names of tenants contain
// any character.
func (w wanted) folder() string {
	sum := sha256.Sum256([]byte(w.tenant.String()))
	return hex.EncodeToString(sum[:8]) + "/"
}

// partOf returns the name of a file until it is complete and checked. The processor ignores such
// names.
func partOf(name string) string {
	return path.Join(path.Dir(name), filestore.PartPrefix+path.Base(name))
}

// discard removes the parts of files that were not stored.
func (f *Fetcher) discard(names ...string) {
	for _, name := range names {
		_ = f.store.Remove(partOf(name))
	}
}

// done remembers a file, so that it is not fetched again soon. At the limit, the tenant with the
// most files loses its oldest.
func (f *Fetcher) done(w wanted) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.active, w)
	if f.running[w.tenant]--; f.running[w.tenant] == 0 {
		delete(f.running, w.tenant)
	}
	if before := f.tried[w]; before != nil {
		f.recent.Remove(before)
	}
	f.tried[w] = f.recent.Push(w.tenant, attempt{w.key, time.Now().Add(f.RetryAfter)}, 1)
	if f.recent.Len() > maxTried {
		e := f.recent.LargestOldest()
		delete(f.tried, wanted{e.Tenant(), e.Value.key})
		f.recent.Remove(e)
	}
}
