// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// counts returns the points of a metric by the value of an attribute.
func (h *harness) counts(name string, key attribute.Key) map[string]int64 {
	counts := map[string]int64{}
	metric, err := h.metrics.GetMetric("otelcol_processor_symbolicate_" + name)
	if err != nil {
		return counts
	}
	for _, point := range metric.Data.(metricdata.Sum[int64]).DataPoints {
		value, _ := point.Attributes.Value(key)
		counts[value.AsString()] = point.Value
	}
	return counts
}

// startPending starts a processor whose files stay pending.
func startPending(t *testing.T, hold string) *harness {
	h := start(t, "}, hold: {"+hold)
	files := h.processor.(*profilesProcessor).Shared
	files.stop()
	files.worker.Wait()
	files.catalog.Store(nil)
	return h
}

func (h *harness) consume() {
	h.t.Helper()
	require.NoError(h.t, h.processor.ConsumeProfiles(h.t.Context(), profileOf(pageURL, debugID)))
}

func (h *harness) received() int { return len(h.sink.AllProfiles()) }

// A message that arrives before its file is open gets names, too, and is counted once.
func TestHold(t *testing.T) {
	h := start(t, "}, hold: {timeout: 1m")
	h.add("app.js", debugID)
	files := h.processor.(*profilesProcessor).Shared
	require.Eventually(t, func() bool { c := files.catalog.Load(); return c != nil && len(c.byID) == 1 }, time.Minute, time.Millisecond)
	h.consume()
	assert.Zero(t, h.received())
	require.Eventually(t, func() bool { return h.received() == 1 }, time.Minute, time.Millisecond)
	d := h.sink.AllProfiles()[0].Dictionary()
	assert.Equal(t, "discountOf", d.StringTable().At(int(d.FunctionTable().At(1).NameStrindex())))
	assert.Eventually(t, func() bool { return h.counts("held_messages", "release")["opened"] == 1 }, time.Minute, time.Millisecond)
	assert.Equal(t, map[string]int64{"ok": 1}, h.counts("frames", "status"))

	h.consume() // the file is open
	assert.Equal(t, 2, h.received())
	hold := h.processor.(*profilesProcessor).hold
	assert.Eventually(t, func() bool { hold.mu.Lock(); defer hold.mu.Unlock(); return hold.held.Size() == 0 }, time.Minute, time.Millisecond)
}

// By default, the first message after a start waits for the first scan of the directory and for its
// file.
func TestHoldIsTheDefault(t *testing.T) {
	directory, sink := t.TempDir(), new(consumertest.ProfilesSink)
	(&harness{t: t, directory: directory}).add("app.js", debugID)
	cfg, err := load(t, "{store: {directory: "+directory+"}}")
	require.NoError(t, err)
	p, err := createProfiles(t.Context(), processortest.NewNopSettings(componentType), cfg, sink)
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), componenttest.NewNopHost()))
	defer func() { require.NoError(t, p.Shutdown(context.Background())) }()
	require.NoError(t, p.ConsumeProfiles(t.Context(), profileOf(pageURL, debugID)))
	require.Eventually(t, func() bool { return len(sink.AllProfiles()) == 1 }, time.Minute, time.Millisecond)
	d := sink.AllProfiles()[0].Dictionary()
	assert.Equal(t, "discountOf", d.StringTable().At(int(d.FunctionTable().At(1).NameStrindex())))

	require.NoError(t, p.ConsumeProfiles(t.Context(), profileOf(pageURL, debugID)))
	assert.Len(t, sink.AllProfiles(), 2, "no delay when the file is open")
}

func TestHoldExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startPending(t, "timeout: 1h")
		h.consume()
		time.Sleep(time.Hour - time.Second)
		assert.Zero(t, h.received())
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, int64(1), h.counts("held_messages", "release")["expired"])
		assert.Equal(t, profileOf(pageURL, debugID), h.sink.AllProfiles()[0], "unchanged")
		assert.Equal(t, map[string]int64{"pending": 1}, h.counts("frames", "status"))
	})
}

// Beyond the limit, messages are forwarded at once; held ones wait on.
func TestHoldIsFull(t *testing.T) {
	size := new(pprofile.ProtoMarshaler).ProfilesSize(profileOf(pageURL, debugID))
	h := startPending(t, fmt.Sprintf("timeout: 1h, max_bytes: %d", 2*size+1))
	for range 5 {
		h.consume()
	}
	assert.Equal(t, 3, h.received())
	assert.Equal(t, map[string]int64{"full": 3}, h.counts("held_messages", "release"))

	require.NoError(t, h.processor.Shutdown(t.Context()))
	assert.Equal(t, 5, h.received(), "nothing is lost at shutdown")
	assert.Equal(t, map[string]int64{"full": 3, "shutdown": 2}, h.counts("held_messages", "release"))
}

// Messages of a tenant that holds the most make room for those of others, and are forwarded.
func TestHoldIsFair(t *testing.T) {
	size := new(pprofile.ProtoMarshaler).ProfilesSize(profileOf(pageURL, debugID))
	h := startPending(t, fmt.Sprintf("timeout: 1h, max_bytes: %d", 8*size))
	held := h.processor.(*profilesProcessor).hold
	consume := func(of tenant.Tenant) {
		require.NoError(t, h.processor.ConsumeProfiles(tenant.NewContext(t.Context(), of), profileOf(pageURL, debugID)))
	}
	use := func(of tenant.Tenant) int64 {
		held.mu.Lock()
		defer held.mu.Unlock()
		return held.held.Use(of) / int64(size)
	}
	for range 20 {
		consume(appA)
	}
	assert.Equal(t, int64(8), use(appA))
	assert.Equal(t, 12, h.received())
	for i := range 4 { // an equal share
		consume(appB)
		assert.Equal(t, int64(i+1), use(appB))
		assert.Equal(t, 12+2*i+1, h.received(), "the one that made room")
		consume(appA)
		assert.Equal(t, int64(i+1), use(appB))
	}
	consume(appB)
	assert.Equal(t, int64(4), use(appB))
	assert.Equal(t, int64(4), use(appA))
	require.NoError(t, h.processor.Shutdown(t.Context()))
	assert.Equal(t, 29, h.received(), "nothing is lost")
	assert.Equal(t, map[string]int64{"full": 21, "shutdown": 8}, h.counts("held_messages", "release"))
}

// If the next component is slow, senders for whose messages others make room wait for it, and the
// limit is kept.
func TestHoldBesideSlowComponent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		size := new(pprofile.ProtoMarshaler).ProfilesSize(profileOf(pageURL, debugID))
		h := startPending(t, fmt.Sprintf("timeout: 1h, max_bytes: %d", 8*size))
		held := h.processor.(*profilesProcessor).hold
		b := blocked{consumertest.NewNop(), make(chan struct{}, 100), make(chan struct{})}
		h.processor.(*profilesProcessor).next = b
		for range 8 {
			require.NoError(t, h.processor.ConsumeProfiles(tenant.NewContext(t.Context(), appA), profileOf(pageURL, debugID)))
		}
		var sending sync.WaitGroup
		for range 2 {
			sending.Go(func() {
				assert.NoError(t, h.processor.ConsumeProfiles(tenant.NewContext(t.Context(), appB), profileOf(pageURL, debugID)))
			})
		}
		synctest.Wait()
		assert.Len(t, b.entered, 1, "the other one has the place of the message that left")
		close(b.release)
		sending.Wait()
		assert.Equal(t, int64(8*size), held.held.Size())
		assert.Equal(t, int64(2*size), held.held.Use(appB))
	})
}

// A message that the next component rejects after the hold is counted.
func TestHoldRefused(t *testing.T) {
	h := startPending(t, "timeout: 1h")
	h.processor.(*profilesProcessor).next = consumertest.NewErr(errors.New("no"))
	h.consume()
	require.NoError(t, h.processor.Shutdown(t.Context()))
	assert.Equal(t, map[string]int64{"refused": 1}, h.counts("held_messages", "release"))
}

// blocked is a component that blocks until it is released.
type blocked struct {
	consumertest.Consumer
	entered, release chan struct{}
}

func (b blocked) ConsumeProfiles(context.Context, pprofile.Profiles) error {
	b.entered <- struct{}{}
	<-b.release
	return nil
}

// New messages do not wait for held ones that the next component is slow to accept.
func TestHoldDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startPending(t, "timeout: 1h")
		b := blocked{consumertest.NewNop(), make(chan struct{}, 10), make(chan struct{})}
		h.processor.(*profilesProcessor).next = b
		h.consume()
		<-b.entered // after the hour
		h.consume() // is held
		close(b.release)
		<-b.entered
	})
}

// Logs are held with the exceptions in them.
func TestHoldOfLogs(t *testing.T) {
	h := startPending(t, "timeout: 1h")
	sink := new(consumertest.LogsSink)
	p, err := NewFactory().CreateLogs(t.Context(), processortest.NewNopSettings(componentType), h.config, sink)
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), componenttest.NewNopHost()))
	const stack = "Error: x\n    at l (https://shop.example/assets/app.js:1:39)"
	for _, text := range []string{stack, "no stack"} {
		l := plog.NewLogs()
		l.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Attributes().PutStr("exception.stacktrace", text)
		require.NoError(t, p.ConsumeLogs(t.Context(), l))
	}
	assert.Len(t, sink.AllLogs(), 1, "the one without frames")
	require.NoError(t, p.Shutdown(t.Context()))
	require.Len(t, sink.AllLogs(), 2)
	got, _ := sink.AllLogs()[1].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes().Get("exception.stacktrace")
	assert.Equal(t, stack, got.Str())
}

// Messages that wait for the same file share a lookup.
func TestHoldLooksUpOnce(t *testing.T) {
	known := map[question]symbols.Status{{appA, "app.js"}: symbols.Pending}
	for range 3 {
		m := heldMessage{files: tenantFiles{nil, appA, map[any]bool{"app.js": true}}}
		assert.True(t, m.pending(known))
	}
}

// counted returns a message that asks for a file, and counts how often it is read.
func counted(reads *int, size int) message {
	return message{
		find: func(f symbolicate.Files) symbolicate.Write {
			*reads++
			_, status := f.Mapping(debugID)
			return func() symbolicate.Counts { return symbolicate.Counts{status: 1} }
		},
		size: func() int { return size },
		next: func(context.Context, bool) error { return nil },
	}
}

// A message is read once, unless it is held.
func TestMessagesAreReadOnce(t *testing.T) {
	h := startPending(t, "timeout: 1h, max_bytes: 1000")
	p, reads := h.processor.(*profilesProcessor), 0
	require.NoError(t, p.consume(t.Context(), counted(&reads, 1001)))
	assert.Equal(t, 1, reads, "it is too large")
	p.Shared.catalog.Store(&catalog{})
	require.NoError(t, p.consume(t.Context(), counted(&reads, 1)))
	assert.Equal(t, 2, reads, "its file is known")
	assert.Equal(t, map[string]int64{"pending": 1, "missing_file": 1}, h.counts("frames", "status"))
}

// A held message asks for its files only when some may be known, and is released then.
func TestHoldDoesNotPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startPending(t, "timeout: 1h")
		p, reads := h.processor.(*profilesProcessor), 0
		require.NoError(t, p.consume(t.Context(), counted(&reads, 1)))
		synctest.Wait()
		p.Shared.catalog.Store(&catalog{})
		time.Sleep(time.Hour / 2)
		assert.Empty(t, h.counts("held_messages", "release"), "nobody has asked")
		p.Shared.opened.Notify()
		synctest.Wait()
		assert.Equal(t, map[string]int64{"opened": 1}, h.counts("held_messages", "release"))
	})
}

// TestHoldOfManyFiles: a message that needs more files than the queue has places for, and one whose
// file is downloaded, or cannot be, wait for no timeout.
func TestHoldOfManyFiles(t *testing.T) {
	server, _ := appServer(t, "")
	h := start(t, "}, hold: {timeout: 1h}, downloads: {allow_http: true, source_map_hosts: ['"+strings.TrimPrefix(server.URL, "http://")+"']")
	for i := range maxQueue + 20 {
		h.write(fmt.Sprintf("%032x.txt", i+1), "a.b -> a:\n")
	}
	p, statuses := h.processor.(*profilesProcessor), make(chan symbolicate.Counts, 10)
	consume := func(ask func(symbolicate.Files, symbolicate.Counts)) {
		require.NoError(t, p.consume(t.Context(), message{
			find: func(f symbolicate.Files) symbolicate.Write {
				counts := symbolicate.Counts{}
				ask(f, counts)
				return func() symbolicate.Counts { statuses <- counts; return counts }
			},
			size: func() int { return 1 },
			next: func(context.Context, bool) error { return nil },
		}))
	}
	p.Shared.scan(t.Context())
	consume(func(f symbolicate.Files, counts symbolicate.Counts) {
		for i := range maxQueue + 20 {
			_, status := f.Mapping(fmt.Sprintf("%032x", i+1))
			counts[status]++
		}
	})
	assert.Equal(t, symbolicate.Counts{symbols.OK: maxQueue + 20}, <-statuses)
	for path, want := range map[string]symbols.Status{"/assets/app.js": symbols.OK, "/none.js": symbols.MissingFile} {
		consume(func(f symbolicate.Files, counts symbolicate.Counts) {
			_, status := f.Script(symbolicate.ScriptID{URL: server.URL + path})
			counts[status]++
		})
		assert.Equal(t, symbolicate.Counts{want: 1}, <-statuses)
	}
}

// A message that the next component refuses for now is forwarded again, unchanged, until
// hold::timeout has passed once more. One that it rejects permanently is dropped.
func TestHoldRetries(t *testing.T) {
	for _, c := range []struct {
		accepts time.Duration // after its first attempt
		err     error
		want    string
		tries   int
	}{
		{10 * time.Second, errors.New("queue is full"), "expired", 11},
		{time.Hour, errors.New("queue is full"), "refused", 61},
		{time.Hour, consumererror.NewPermanent(errors.New("no")), "refused", 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := startPending(t, "timeout: 1m")
			next := &spoiling{accepts: time.Now().Add(time.Minute + c.accepts), err: c.err}
			h.processor.(*profilesProcessor).next = next
			h.consume()
			time.Sleep(time.Hour)
			synctest.Wait()
			assert.Equal(t, map[string]int64{c.want: 1}, h.counts("held_messages", "release"))
			assert.Equal(t, map[string]int64{"pending": 1}, h.counts("frames", "status"), "once")
			assert.Equal(t, c.tries, next.tries)
			if c.want == "expired" {
				assert.Equal(t, []pprofile.Profiles{profileOf(pageURL, debugID)}, next.AllProfiles())
			}
		})
	}
}

// spoiling is a component that refuses messages until a time, and changes them.
type spoiling struct {
	consumertest.ProfilesSink
	accepts time.Time
	err     error
	tries   int
}

func (s *spoiling) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

func (s *spoiling) ConsumeProfiles(ctx context.Context, p pprofile.Profiles) error {
	s.tries++
	if time.Now().Before(s.accepts) {
		pprofile.NewProfiles().MoveTo(p)
		return s.err
	}
	return s.ProfilesSink.ConsumeProfiles(ctx, p)
}

// TestHoldBurst: messages that are released at once, to a next component that takes 480 per second,
// or refuses the others. Everything arrives that was accepted.
func TestHoldBurst(t *testing.T) {
	messages := 2400
	if !testsize.Full() {
		messages = 600
	}
	size := new(pprofile.ProtoMarshaler).ProfilesSize(profileOf(pageURL, debugID))
	for _, refuses := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := startPending(t, fmt.Sprintf("timeout: 1m, max_bytes: %d", messages/2*size))
			next := &limited{refuses: refuses, turn: make(chan struct{}, 1), begin: time.Now()}
			h.processor.(*profilesProcessor).next = next
			accepted := 0
			for range messages {
				if h.processor.ConsumeProfiles(t.Context(), profileOf(pageURL, debugID)) == nil {
					accepted++
				}
			}
			files := h.processor.(*profilesProcessor).Shared
			files.catalog.Store(&catalog{})
			files.opened.Notify()
			time.Sleep(time.Minute)
			synctest.Wait()
			assert.Len(t, next.AllProfiles(), accepted)
			assert.GreaterOrEqual(t, accepted, messages/2)
			assert.Zero(t, h.counts("held_messages", "release")["refused"])
		})
	}
}

// limited is a component that takes 480 messages per second.
type limited struct {
	consumertest.ProfilesSink
	refuses bool
	turn    chan struct{}
	begin   time.Time
	taken   int
}

func (l *limited) ConsumeProfiles(ctx context.Context, p pprofile.Profiles) error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	switch {
	case !l.refuses:
		time.Sleep(time.Second / 480)
	case l.taken >= 10+int(time.Since(l.begin)*480/time.Second):
		return errors.New("queue is full")
	}
	l.taken++
	return l.ProfilesSink.ConsumeProfiles(ctx, p)
}

// TestMemoryOfHeldMessages: beside the message itself, the hold needs little memory.
func TestMemoryOfHeldMessages(t *testing.T) {
	const n = 2000
	h := startPending(t, "timeout: 1h")
	p := h.processor.(*profilesProcessor)
	messages := make([]pprofile.Profiles, n)
	for i := range messages {
		messages[i] = profileOf(fmt.Sprintf("https://shop.example/%d.js", i), "")
	}
	measure := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := measure()
	for _, m := range messages {
		require.NoError(t, h.processor.ConsumeProfiles(t.Context(), m))
	}
	each := (measure() - before) / n
	assert.Less(t, each, int64(700), "a map and closures needed more")
	assert.Equal(t, n, p.hold.held.Len())
	runtime.KeepAlive(messages)
}

// TestShutdownBesideBlockedComponent: a component that blocks, like an exporter that retries
// without a queue, does not block a shutdown. One that is slow gets all messages.
func TestShutdownBesideBlockedComponent(t *testing.T) {
	for _, c := range []struct {
		each        time.Duration
		took        time.Duration // of the shutdown
		accepted    int
		wantRefused int64
	}{
		{time.Hour, 5 * time.Second, 0, 4},
		{4 * time.Second, 16*time.Second - time.Millisecond, 4, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := startPending(t, "timeout: 1m")
			next := &slow{each: c.each}
			h.processor.(*profilesProcessor).next = next
			for range 4 {
				h.consume()
			}
			time.Sleep(time.Minute + time.Millisecond) // the worker forwards the first one
			begin := time.Now()
			require.NoError(t, h.processor.Shutdown(t.Context()))
			assert.Equal(t, c.took, time.Since(begin))
			assert.Len(t, next.AllProfiles(), c.accepted)
			assert.Equal(t, c.wantRefused, h.counts("held_messages", "release")["refused"])
		})
	}
}

// slow is a component that takes a time for each message.
type slow struct {
	consumertest.ProfilesSink
	each time.Duration
}

func (s *slow) ConsumeProfiles(ctx context.Context, p pprofile.Profiles) error {
	select {
	case <-time.After(s.each):
		return s.ProfilesSink.ConsumeProfiles(ctx, p)
	case <-ctx.Done():
		return ctx.Err()
	}
}
