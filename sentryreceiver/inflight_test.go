package sentryreceiver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/otelcol-sentry/otelcol-sentry/internal/gate"
)

func newClaim(f *inflight) *claim {
	return &claim{room: f, ctx: context.Background(), counted: func(int64) {}}
}

// later runs acquire and waits until it is in the queue.
func later(t *testing.T, c *claim, n int64) <-chan error {
	t.Helper()
	queued := func() int {
		c.room.mu.Lock()
		defer c.room.mu.Unlock()
		return len(c.room.queue)
	}
	before, done := queued(), make(chan error, 1)
	go func() { done <- c.acquire(n) }()
	require.Eventually(t, func() bool { return queued() == before+1 }, time.Second, time.Millisecond)
	return done
}

// Two bodies that are half inflated and both need more: one gives way at once.
func TestHalfInflatedBodiesDoNotBlockEachOther(t *testing.T) {
	f := &inflight{limit: 100}
	a, b := newClaim(f), newClaim(f)
	require.NoError(t, a.acquire(50))
	require.NoError(t, b.acquire(50))
	first := later(t, a, 50)
	begin := time.Now()
	assert.ErrorIs(t, b.acquire(1), errBusy)
	assert.Less(t, time.Since(begin), maxWait/2, "there is nothing to wait for")
	b.release()
	assert.NoError(t, <-first)
	a.release()
	assert.Zero(t, f.used+int64(f.holders))
}

// A third that works on makes waiting worthwhile, until it too waits.
func TestWaitingForOneThatWorks(t *testing.T) {
	f := &inflight{limit: 100}
	a, b, working := newClaim(f), newClaim(f), newClaim(f)
	for c, n := range map[*claim]int64{a: 40, b: 40, working: 20} {
		require.NoError(t, c.acquire(n))
	}
	first, second := later(t, a, 20), later(t, b, 20)
	working.keep(10)
	assert.Empty(t, first)
	working.release()
	assert.NoError(t, <-first)
	assert.Empty(t, second)
	assert.ErrorIs(t, a.acquire(1), errBusy, "now nobody works")
	a.release()
	assert.NoError(t, <-second)
	b.release()
	assert.Zero(t, f.used+int64(f.holders))
}

func TestNewcomersWaitBehindThoseUnderWay(t *testing.T) {
	f := &inflight{limit: 100}
	working, growing, newcomer := newClaim(f), newClaim(f), newClaim(f)
	require.NoError(t, working.acquire(60))
	require.NoError(t, growing.acquire(40))
	new := later(t, newcomer, 50)
	grown := later(t, growing, 40)
	working.release()
	assert.NoError(t, <-grown)
	assert.Empty(t, new)
	growing.release()
	assert.NoError(t, <-new)
}

func TestPatienceEnds(t *testing.T) {
	f := &inflight{limit: 100}
	holder, patient := newClaim(f), newClaim(f)
	require.NoError(t, holder.acquire(100))
	begin := time.Now()
	assert.ErrorIs(t, patient.acquire(1), errBusy)
	assert.GreaterOrEqual(t, time.Since(begin), maxWait)
	begin = time.Now()
	assert.ErrorIs(t, patient.acquire(1), errBusy)
	assert.Less(t, time.Since(begin), maxWait/2, "all waits together")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	gone := &claim{room: f, ctx: ctx}
	assert.ErrorIs(t, gone.acquire(1), context.Canceled)
	assert.Empty(t, f.queue)
}

// TestBytesInFlight: whatever many claims do at once, there are never more bytes than the limit, all come to an end, and
// everything is given back.
func TestBytesInFlight(t *testing.T) {
	const limit = 1000
	f := &inflight{limit: limit}
	over, refused, served := false, 0, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 300 {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		all.Go(func() {
			c := newClaim(f)
			defer c.release()
			for held := int64(0); held < limit/2; {
				n := 1 + random.Int64N(limit/4)
				if err := c.acquire(n); err != nil {
					mu.Lock()
					defer mu.Unlock()
					refused++
					return
				}
				held += n
				if random.IntN(3) == 0 {
					c.give(n)
					held -= n
				}
				f.mu.Lock()
				over = over || f.used > limit
				f.mu.Unlock()
				time.Sleep(100 * time.Microsecond) // so that the others come in between
			}
			mu.Lock()
			defer mu.Unlock()
			served++
		})
	}
	all.Wait()
	assert.False(t, over)
	assert.Zero(t, f.used+int64(f.holders+len(f.queue)))
	assert.Equal(t, 300, refused+served)
	assert.Positive(t, served)
	t.Logf("%d served, %d refused", served, refused)
}

// tight is the least that is allowed for bodies of 4 MiB.
func tight(c *Config) {
	c.HTTP.MaxRequestBodySize = 4 << 20
	c.MaxBytesInFlight = needOfOne(4 << 20)
}

const busyLimits = "10:error;log_item;feedback;default;monitor;transaction;span;profile;profile_chunk;profile_chunk_ui;" +
	"trace_metric;metric;session;attachment;replay;security:key:bytes_in_flight"

func (h *harness) inflightBytes() int64 {
	h.t.Helper()
	found, err := h.metrics.GetMetric("otelcol_receiver_sentry_bytes_in_flight")
	require.NoError(h.t, err)
	return found.Data.(metricdata.Sum[int64]).DataPoints[0].Value
}

// TestBusy: while the pipeline holds requests, there is room for no more of them; a limit says so to the SDK.
func TestBusy(t *testing.T) {
	h := start(t, tight)
	entered, hold := make(chan struct{}, 100), make(chan struct{})
	h.sink.respond = func(pprofile.Profiles) error {
		entered <- struct{}{}
		<-hold
		return nil
	}
	body := []byte(envelope(chunkItem, item("unknown", "", string(bytes.Repeat([]byte(" "), 3<<20)))))
	replies := make(chan reply, 100)
	inside := 0
	for ; h.receiver.shared.inflight.limit-int64(inside*len(body)) > int64(2*len(body)); inside++ {
		go func() { replies <- h.do(h.envelopeRequest(body)) }()
		<-entered
	}
	assert.Equal(t, int64(inside*len(body)), h.inflightBytes(), "what is handed on is held to the end, and no more than it")

	require.NoError(t, h.receiver.shared.claim(t.Context()).acquire(h.receiver.shared.inflight.limit-int64(inside*len(body))))
	got := h.do(h.envelopeRequest(body))
	assert.Equal(t, http.StatusTooManyRequests, got.status)
	assert.Equal(t, busyLimits, got.header.Get("X-Sentry-Rate-Limits"))
	assert.Empty(t, got.header.Get("Retry-After"))
	assert.Equal(t, map[string]int64{"reason=bytes_in_flight": 1}, h.rejected())

	close(hold)
	for range inside {
		assert.Equal(t, http.StatusOK, (<-replies).status)
	}
}

// TestBytesComeBack from every way that a request can end.
func TestBytesComeBack(t *testing.T) {
	h := start(t, tight)
	calls := 0
	h.sink.respond = func(pprofile.Profiles) error {
		switch calls++; calls {
		case 1:
			return errors.New("busy")
		case 2:
			panic("a bug in a pipeline")
		}
		return nil
	}
	blanks := bytes.Repeat([]byte(" "), 1<<20)
	encoded := func(encoding string, body []byte) *http.Request {
		req := h.envelopeRequest(body)
		req.Header.Set("Content-Encoding", encoding)
		return req
	}
	assert.Equal(t, 429, h.post(envelope(chunkItem)).status)
	h.clock.Skip(gate.Pause)
	_, err := h.client.Do(h.envelopeRequest([]byte(envelope(chunkItem))))
	assert.Error(t, err, "the connection ends")
	h.clock.Skip(gate.Pause)
	assert.Equal(t, 200, h.post(envelope(chunkItem)).status)
	assert.Equal(t, 400, h.post("no envelope").status)
	assert.Equal(t, 400, h.do(encoded("gzip", blanks)).status)
	for encoding := range encoders {
		bomb := encode(t, encoding, blanks, blanks, blanks, blanks, blanks)
		assert.Equal(t, 413, h.do(encoded(encoding, bomb)).status, encoding)
	}
	body, sender := io.Pipe()
	time.AfterFunc(50*time.Millisecond, func() { sender.CloseWithError(errors.New("the client is gone")) })
	_, err = h.client.Do(h.request(http.MethodPost, "/api/42/envelope/", body))
	assert.Error(t, err)

	f := h.receiver.shared.inflight
	assert.Eventually(t, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.used == 0 && f.holders == 0
	}, time.Second, time.Millisecond)
	assert.Zero(t, h.inflightBytes())
}
