// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup/deduptest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
)

func dropResent(c *Config) { c.Dedup.MaxIDs = 1000 }

// Items with an id of their own are taken once; the others as often as they come.
func TestResentItems(t *testing.T) {
	again := envelope(chunkItem, profileItem, item("transaction", "", fullTransaction), item("event", "", errorEvent),
		item("session", "", session), item("log", `,"item_count":1`, logContainer))
	s := startSignals(t, dropResent)
	for range 3 {
		assert.Equal(t, 200, s.post(again).status)
	}
	for itemType, once := range map[string]bool{
		"profile_chunk": true, "profile": true, "transaction": true, "event": true, "session": false, "log": false,
	} {
		want, dropped := int64(3), int64(0)
		if once {
			want, dropped = 1, 2
		}
		assert.Equal(t, want, s.items()["outcome=accepted type="+itemType], itemType)
		assert.Equal(t, dropped, s.items()["outcome=discarded reason=resent type="+itemType], itemType)
	}

	off := startSignals(t, nil)
	for range 3 {
		off.post(again)
	}
	assert.Equal(t, int64(3), off.items()["outcome=accepted type=profile_chunk"], "off by default")
}

// Another project may use the same ids.
func TestResentIsByProject(t *testing.T) {
	h := start(t, dropResent)
	for _, project := range []string{"1", "2"} {
		req := h.request("POST", "/api/"+project+"/envelope/?sentry_key="+testKey, strings.NewReader(envelope(chunkItem)))
		assert.Equal(t, 200, h.do(req).status)
	}
	assert.Equal(t, 2, h.sink.count())
}

// Only what was accepted is remembered.
func TestRefusedItemsMayComeAgain(t *testing.T) {
	h := start(t, dropResent)
	h.sink.respond = func(pprofile.Profiles) error { return errors.New("busy") }
	assert.Equal(t, 429, h.post(envelope(chunkItem)).status)
	h.sink.respond = nil
	h.clock.Skip(pipeline.BreakerPause)
	assert.Equal(t, 200, h.post(envelope(chunkItem)).status)
	assert.Equal(t, 1, h.sink.count())
}

// A span is the same whether a transaction or a container brings it.
func TestSpansAreTakenOnce(t *testing.T) {
	const header = `,"item_count":2,"content_type":"application/vnd.sentry.items.span.v2+json"`
	root := strings.ReplaceAll(spanContainer, "6f1b2c3d4e5f6072", "6f1b2c3d4e5f6071") // that of fullTransaction
	both := strings.Replace(root, `{"items":[`, `{"items":[`+spanContainer[len(`{"items":[`):len(spanContainer)-2]+",", 1)
	s := startSignals(t, dropResent)
	s.post(envelope(item("transaction", "", fullTransaction)))
	require.Equal(t, 2, s.traces.SpanCount())
	s.post(envelope(item("span", header, both)))
	assert.Equal(t, 3, s.traces.SpanCount(), "only the other span")
	assert.Equal(t, map[string]int64{"reason=resent type=span": 1}, s.counts("otelcol_receiver_sentry_elements_discarded"))
	s.post(envelope(item("span", header, both)))
	assert.Equal(t, 3, s.traces.SpanCount())
	assert.Equal(t, int64(1), s.items()["outcome=discarded reason=resent type=span"])
}

// The second of two that come at once waits for what becomes of the first: if that fails, the
// second is taken.
func TestConcurrentDuplicates(t *testing.T) { synctest.Test(t, testConcurrentDuplicates) }

func testConcurrentDuplicates(t *testing.T) {
	for _, fails := range []bool{false, true} {
		h := start(t, dropResent)
		h.overPipes()
		calls, entered, hold := 0, make(chan struct{}, 2), make(chan struct{})
		var mu sync.Mutex
		h.sink.respond = func(pprofile.Profiles) error {
			mu.Lock()
			calls++
			first := calls == 1
			mu.Unlock()
			if first {
				entered <- struct{}{}
				<-hold
				if fails {
					return errors.New("busy")
				}
			}
			return nil
		}
		var both sync.WaitGroup
		both.Go(func() { h.post(envelope(chunkItem)) })
		<-entered
		both.Go(func() { h.post(envelope(chunkItem)) })
		synctest.Wait() // the second waits by then: after a failure, the pipeline is not asked for a while
		assert.Zero(t, h.sink.count())
		close(hold)
		both.Wait()
		assert.Equal(t, 1, h.sink.count(), "exactly once, fails=%t", fails)
	}
}

// Who goes while the first is still under way has not been told that it is there: it counts as
// lost.
func TestDuplicateThatCannotWait(t *testing.T) { synctest.Test(t, testDuplicateThatCannotWait) }

func testDuplicateThatCannotWait(t *testing.T) {
	h := start(t, dropResent)
	h.overPipes()
	entered, hold := make(chan struct{}), make(chan struct{})
	h.sink.respond = func(pprofile.Profiles) error {
		close(entered)
		<-hold
		return errors.New("busy")
	}
	var first sync.WaitGroup
	first.Go(func() { h.post(envelope(chunkItem)) })
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := h.client.Do(h.envelopeRequest([]byte(envelope(chunkItem))).WithContext(ctx))
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	refused := func() int64 { return h.items()["outcome=refused reason=backpressure type=profile_chunk"] }
	synctest.Wait()
	assert.Equal(t, int64(1), refused())
	close(hold)
	first.Wait()
	assert.Equal(t, int64(2), refused())
}

// TestResentAfterARestart: a storage keeps the IDs.
func TestResentAfterARestart(t *testing.T) {
	id := component.MustNewID("file_storage")
	host := hostWithExtensions{componenttest.NewNopHost(), map[component.ID]component.Component{id: deduptest.NewMemory()}}
	stored := func(c *Config) {
		dropResent(c)
		c.Dedup.Storage = &id
	}
	first := startOn(t, host, stored)
	assert.Equal(t, 200, first.post(envelope(chunkItem)).status)
	require.NoError(t, first.receiver.Shutdown(t.Context()))
	second := startOn(t, host, stored)
	assert.Equal(t, 200, second.post(envelope(chunkItem)).status)
	assert.Zero(t, second.sink.count())
}
