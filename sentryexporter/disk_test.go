// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal/journaltest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// disk is a storage extension that outlives exporters.
type disk struct {
	component.StartFunc
	component.ShutdownFunc
	mu     sync.Mutex
	values map[string][]byte // by owner, signal and key
}

var disks sync.Map // of all tests, by ID

// newDisk returns a disk, and a change of the configuration that uses it.
func newDisk(t *testing.T, values map[string][]byte) (d *disk, use func(*Config)) {
	d, id := &disk{values: values}, component.MustNewIDWithName("disk", strings.ReplaceAll(t.Name(), "/", "_"))
	disks.Store(id, d)
	t.Cleanup(func() { disks.Delete(id) })
	return d, func(cfg *Config) { cfg.Queue.Get().StorageID = &id }
}

// requests returns the number of stored requests, whose keys are numbers.
func (d *disk) requests() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key := range d.values {
		if !strings.HasSuffix(key, "|qmv0") {
			n++
		}
	}
	return n
}

func (d *disk) GetClient(_ context.Context, _ component.Kind, owner component.ID, signal string) (storage.Client, error) {
	return journaltest.Client{Batches: &diskClient{d, owner.String() + "|" + signal + "|"}}, nil
}

type diskClient struct {
	*disk
	prefix string
}

func (c *diskClient) Batch(_ context.Context, ops ...*storage.Operation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range ops {
		switch key := c.prefix + op.Key; op.Type {
		case storage.Get:
			op.Value = c.values[key]
		case storage.Set:
			c.values[key] = op.Value
		case storage.Delete:
			delete(c.values, key)
		}
	}
	return nil
}

func (c *diskClient) Close(context.Context) error { return nil }

// TestEarlierStorage: the requests that a build of November 2026 stored before it was killed are
// sent.
func TestEarlierStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored, use := newDisk(t, journaltest.Read(t, "testdata/stored.txt"))
		assert.Equal(t, 9, stored.requests())
		e := startBoth(t, use)
		time.Sleep(time.Minute)
		sent := map[string]int{}
		for _, envelope := range e.sentry.Taken() {
			sent[string(envelope.Items[0].Header.Type)]++
		}
		assert.Zero(t, stored.requests())
		assert.Equal(t, map[string]int{
			"check_in": 1, "event": 1, "feedback": 1, "log": 1, "profile_chunk": 1, "session": 1, "span": 2, "trace_metric": 1,
		}, sent)
	})
}

// TestBurst: a burst that is larger than the queue, to a healthy Sentry that accepts 480 requests
// per second. Each request that the queue accepts arrives, also if the exporter restarts.
func TestBurst(t *testing.T) {
	requests, size, queue := 2400, 64_000, int64(8<<20)
	if !testsize.Full() {
		requests, size, queue = 300, 16_000, minQueueBytes
	}
	for _, stored := range []bool{false, true} {
		for _, blocks := range []bool{false, true} {
			t.Run(fmt.Sprintf("stored %t blocks %t", stored, blocks), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := fakesentry.StartInMemory(t)
					server.Answer(func(*fakesentry.Request) fakesentry.Answer {
						return fakesentry.Answer{Delay: 10 * time.Second / 480} // to ten consumers
					})
					_, use := newDisk(t, map[string][]byte{})
					edit := func(cfg *Config) {
						if stored {
							use(cfg)
						}
						cfg.Queue.Get().QueueSize, cfg.Queue.Get().BlockOnOverflow = queue, blocks
					}
					h := startAt(t, server, edit)
					accepted := h.burst(requests, 16, size)
					h.stop()
					if stored {
						startAt(t, server, edit)
						time.Sleep(time.Minute)
					}
					assert.Equal(t, accepted, numbers(server.Taken()))
					assert.Equal(t, blocks, len(accepted) == requests)
				})
			})
		}
	}
}

// burst sends requests of a size by concurrent clients, each as fast as it receives responses. It
// returns the numbers of those that were accepted, in order.
func (h *harness) burst(requests, clients, size int) []int {
	var mu sync.Mutex
	var sending sync.WaitGroup
	accepted := map[int]bool{}
	for client := range clients {
		sending.Go(func() {
			for n := client; n < requests; n += clients {
				e := transaction(n)
				e.Item.Payload = append(e.Item.Payload, strings.Repeat(" ", size)...)
				if err := h.send(e); err != nil {
					require.ErrorContains(h.t, err, "sending queue is full")
					continue
				}
				mu.Lock()
				accepted[n] = true
				mu.Unlock()
			}
		})
	}
	sending.Wait()
	return slices.Sorted(maps.Keys(accepted))
}
