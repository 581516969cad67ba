// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

var rateTime = flag.Duration("time", 5*time.Minute, "how long TestFullRate sends")

const (
	// rateMemory is GOMEMLIMIT: with the default limit, its index has room for 90,000 spans a
	// second.
	rateMemory      = "16GiB"
	rateConnections = 8 // enough to keep one core busy
	rateProcesses   = 200
	rateThreads     = 4
	rateSpans       = 10 // of a transaction
	rateWait        = 30 * time.Second
)

// TestFullRate sends transactions and chunks as fast as a collector with one core answers. After
// five minutes, the index has all spans that it keeps, link::keep_spans: none may be evicted, and
// all samples must be linked.
func TestFullRate(t *testing.T) {
	t.Setenv("GOMAXPROCS", "1")
	t.Setenv("GOMEMLIMIT", rateMemory)
	c := harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: ENDPOINT}
processors:
  profile_transform: {link: {wait: %v}}
exporters:
  nop:
service:
  pipelines:
    profiles: {receivers: [sentry], processors: [profile_transform], exporters: [nop]}
    traces: {receivers: [sentry], processors: [profile_transform], exporters: [nop]}
`, rateWait)})
	s := &sender{collector: c, url: "http://" + c.Address + "/api/42/envelope/?sentry_key=" + harness.TestKey,
		kind: "application/x-sentry-envelope", client: loadClient()}
	f := newFleet()
	samples := 0
	stop := make(chan struct{})
	var sending, chunks sync.WaitGroup
	chunks.Go(func() { samples = f.sendChunks(t, s, stop) })
	waits := make([][]time.Duration, rateConnections)
	cpu, begin := c.CPUTime(t), time.Now()
	for i := range waits {
		sending.Go(func() {
			for time.Since(begin) < *rateTime {
				began := time.Now()
				if a := s.post(zip(f.transaction())); !assert.Equal(t, http.StatusOK, a.Status, a.Body) {
					return
				}
				waits[i] = append(waits[i], time.Since(began))
			}
		})
	}
	sending.Wait()
	took, cores := time.Since(begin), (c.CPUTime(t)-cpu).Seconds()/time.Since(begin).Seconds()
	after := c.Scrape(t)
	close(stop)
	chunks.Wait()

	const prefix = "otelcol_processor_profile_transform_"
	var linked int
	require.Eventually(t, func() bool {
		m := c.Scrape(t)
		linked = m.Sum(prefix+"linked_observations", "how=covered")
		return m.Sum(prefix+"held_messages") == 0
	}, rateWait+time.Minute, time.Second, "all chunks are linked")
	all := slices.Sorted(slices.Values(slices.Concat(waits...)))
	result := stretch{waits: all}
	spans := len(all) * rateSpans
	t.Logf("%.0f spans/s for %v, %.2f cores of the collector; p50 %v, p99 %v; %d spans in the index, %d of %d MiB; peak RSS %d MiB; "+
		"%d spans evicted; %d of %d samples linked; load average %s",
		float64(spans)/took.Seconds(), took.Round(time.Second), cores, result.wait(0.5), result.wait(0.99), after.Sum(prefix+"index_spans"),
		after.Sum(prefix+"index_bytes")>>20, after.Sum(prefix+"index_limit")>>20, c.RequirePeakMemory(t),
		after.Sum(prefix+"spans", "event=evicted"), linked, samples, harness.LoadAverage())
	assert.Zero(t, after.Sum(prefix+"spans", "event=evicted"))
	assert.GreaterOrEqual(t, after.Sum(prefix+"spans", "event=indexed"), spans)
	assert.Equal(t, samples, linked)
}

// fleet is a number of processes, whose threads process one request after the other.
type fleet struct {
	next    atomic.Int64 // transaction
	threads []fleetThread
}

type fleetThread struct {
	mu       sync.Mutex
	process  int
	number   int
	lastEnd  time.Time // of its last transaction
	firstEnd time.Time // zero before the first
}

var fleetSession = harness.NewID()[:24]

func newFleet() *fleet {
	f := &fleet{threads: make([]fleetThread, rateProcesses*rateThreads)}
	for i := range f.threads {
		f.threads[i].process, f.threads[i].number, f.threads[i].lastEnd = i%rateProcesses, i/rateProcesses+1, time.Now().Add(-time.Second)
	}
	return f
}

func profilerOf(process int) string { return fmt.Sprintf("%s%08x", fleetSession, process) }

// transaction returns the next transaction of the next thread. It lasts from the end of the
// thread's last one until now.
func (f *fleet) transaction() []byte {
	n := f.next.Add(1)
	thread := &f.threads[n%int64(len(f.threads))]
	thread.mu.Lock()
	defer thread.mu.Unlock()
	start, end := thread.lastEnd, time.Now()
	thread.lastEnd = end
	if thread.firstEnd.IsZero() {
		thread.firstEnd = start
	}
	trace, data := harness.NewID(), fmt.Sprintf(`{"thread.id":"%d","thread.name":"worker"`, thread.number)
	span := func(i int) string { return fmt.Sprintf("%s%08x", trace[:8], i) }
	var children []string
	step := end.Sub(start) / rateSpans
	for i := 1; i < rateSpans; i++ {
		from := start.Add(time.Duration(i-1) * step)
		children = append(children, fmt.Sprintf(`{"trace_id":"%s","span_id":"%s","parent_span_id":"%s","op":"db","origin":"auto.db","status":"ok",`+
			`"description":"SELECT id, name, price FROM products WHERE id = %%s","start_timestamp":%s,"timestamp":%s,`+
			`"data":%s,"db.system":"postgresql","server.address":"db.example","server.port":5432}}`,
			trace, span(i), span(0), seconds(from), seconds(from.Add(step)), data))
	}
	return envelope("transaction", fmt.Sprintf(`{"type":"transaction","event_id":"%s","platform":"python","transaction":"GET /products",`+
		`"release":"shop@1.2.3","environment":"production","server_name":"web-%d","sdk":{"name":"sentry.python.flask","version":"2.68.0"},`+
		`"start_timestamp":%s,"timestamp":%s,"contexts":{"profile":{"profiler_id":"%s"},"runtime":{"name":"CPython","version":"3.12.3"},`+
		`"trace":{"trace_id":"%s","span_id":"%s","op":"http.server","status":"ok","data":%s}}},"spans":[%s]}`,
		harness.NewID(), thread.process, seconds(start), seconds(end), profilerOf(thread.process), trace, span(0), data, strings.Join(children, ",")))
}

// sendChunks sends a chunk per process and minute, with one sample per thread and second, and the
// last ones at the end. It returns the number of samples.
func (f *fleet) sendChunks(t *testing.T, s *sender, stop <-chan struct{}) (samples int) {
	sentTo := make([]time.Time, rateProcesses)
	tick := time.NewTicker(time.Minute / rateProcesses)
	defer tick.Stop()
	for at := 0; ; at = (at + 1) % rateProcesses {
		stopped := false
		select {
		case <-tick.C:
		case <-stop:
			stopped = true
		}
		for process := range rateProcesses {
			if process != at && !stopped {
				continue
			}
			if chunk, n := f.chunk(process, &sentTo[process]); n > 0 {
				if a := s.post(zip(chunk)); !assert.Equal(t, http.StatusOK, a.Status, a.Body) {
					return samples
				}
				samples += n
			}
		}
		if stopped {
			return samples
		}
	}
}

// chunk returns the samples of a process since its last chunk, up to the end of its last
// transactions.
func (f *fleet) chunk(process int, sentTo *time.Time) (body []byte, n int) {
	var samples []string
	until := time.Now()
	for i := process; i < len(f.threads); i += rateProcesses {
		f.threads[i].mu.Lock()
		if until.After(f.threads[i].lastEnd) {
			until = f.threads[i].lastEnd
		}
		first := f.threads[i].firstEnd
		f.threads[i].mu.Unlock()
		if first.IsZero() {
			return nil, 0
		}
		if sentTo.Before(first) {
			*sentTo = first
		}
	}
	at := *sentTo
	for at = at.Add(time.Second); at.Before(until); at = at.Add(time.Second) {
		for number := range rateThreads {
			samples = append(samples, fmt.Sprintf(`{"timestamp":%s,"thread_id":"%d","stack_id":%d}`, seconds(at), number+1, len(samples)%3))
		}
		*sentTo = at
	}
	return envelope("profile_chunk", fmt.Sprintf(`{"version":"2","platform":"python","profiler_id":"%s","chunk_id":"%s",`+
		`"client_sdk":{"name":"sentry.python","version":"2.68.0"},"profile":{"frames":[{"function":"work"},{"function":"wait"}],"stacks":[[0],[1],[0,1]],`+
		`"samples":[%s],"thread_metadata":{"1":{"name":"main"}}}}`, profilerOf(process), harness.NewID(), strings.Join(samples, ","))), len(samples)
}

func seconds(t time.Time) string { return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000) }

func envelope(kind, payload string) []byte {
	return fmt.Appendf(nil, "{\"event_id\":\"%s\"}\n{\"type\":\"%s\"}\n%s\n", harness.NewID(), kind, payload)
}

var zippers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails only for unknown levels
	return w
}}

func zip(plain []byte) []byte {
	w := zippers.Get().(*gzip.Writer)
	defer zippers.Put(w)
	var zipped bytes.Buffer
	w.Reset(&zipped)
	_, _ = w.Write(plain) // writes to a buffer cannot fail
	_ = w.Close()
	return zipped.Bytes()
}
