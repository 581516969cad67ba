// SPDX-License-Identifier: Apache-2.0

package downloads

import (
	"context"
	"errors"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
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
	queue     chan string // URLs of scripts, and build IDs
	stop      context.CancelFunc
	workers   sync.WaitGroup

	mu     sync.Mutex
	active map[string]bool      // in the queue, or being fetched
	tried  map[string]time.Time // → time from which a file may be fetched again
}

const (
	// maxQueue is the maximum number of files waiting to be fetched. A later message asks for the
	// others again.
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
		queue:   make(chan string, maxQueue), active: map[string]bool{}, tried: map[string]time.Time{},
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
func (f *Fetcher) want(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.active[key] {
		return true
	}
	if time.Now().Before(f.tried[key]) {
		return false
	}
	select {
	case f.queue <- key:
		f.active[key] = true
	default:
	}
	return true
}

func (f *Fetcher) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case key := <-f.queue:
			err := f.fetch(ctx, key)
			if ctx.Err() != nil {
				return
			}
			f.Count(outcomeOf(err), key, err)
			if err == nil {
				f.Stored(ctx)
			}
			f.done(key)
		}
	}
}

func (f *Fetcher) fetch(ctx context.Context, key string) error {
	if strings.Contains(key, "://") {
		return f.fetchScript(ctx, key)
	}
	return f.fetchObject(ctx, key)
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

// done remembers a file, so that it is not fetched again soon. At the limit, it forgets any other
// file.
func (f *Fetcher) done(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.active, key)
	if len(f.tried) >= maxTried {
		for other := range f.tried {
			delete(f.tried, other)
			break
		}
	}
	f.tried[key] = time.Now().Add(f.RetryAfter)
}
