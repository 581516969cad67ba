// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestBurst: a burst that is larger than the queue and faster than the disk, to a next component
// that takes 480 messages per second, or refuses the others. Everything arrives that was accepted.
func TestBurst(t *testing.T) {
	messages, size, clients := 2400, 6400, []int{16, 64} // a tenth of 64 kB
	if !testsize.Full() {
		messages, clients = 300, clients[:1]
	}
	first := &heldMessage{parts: []pprofile.Profiles{recorded()}}
	require.NoError(t, first.compress()) // the channels of the codec are not those of a bubble
	_, err := first.decompress()
	require.NoError(t, err)
	for name, newDisk := range map[string]func() *memoryStorage{
		"in memory": func() *memoryStorage { return nil }, "stored": newMemoryStorage,
		"on a slow disk": func() *memoryStorage { m := newMemoryStorage(); m.rate = 500_000; return m },
	} {
		for _, refuses := range []bool{false, true} {
			for _, clients := range clients {
				t.Run(fmt.Sprint(name, " ", refuses, " ", clients), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						config, disk := fmt.Sprintf("link: {wait: 1s, max_held_bytes: %d}\n", 50*size), newDisk()
						if disk != nil {
							config += "storage: memory\n"
						}
						h := startWith(t, config, disk)
						if h.sink.turn = make(chan struct{}, 1); refuses {
							h.sink.turn = nil
							begin, taken := time.Now(), 0
							h.sink.refuses = func(pprofile.Profiles) bool {
								full := taken >= 10+int(time.Since(begin)*sinkRate/time.Second)
								if !full {
									taken++
								}
								return full
							}
						}
						var mu sync.Mutex
						accepted := map[int64]int{}
						var sending sync.WaitGroup
						for client := range clients {
							sending.Go(func() {
								for n := client; n < messages; n += clients {
									if h.profiles.ConsumeProfiles(t.Context(), ofSize(n, size)) == nil {
										mu.Lock()
										accepted[int64(n)] = 1
										mu.Unlock()
									}
								}
							})
						}
						sending.Wait()
						time.Sleep(time.Minute)
						arrived := map[int64]int{}
						for _, p := range h.sink.AllProfiles() {
							n, _ := p.ResourceProfiles().At(0).Resource().Attributes().Get("n")
							arrived[n.Int()]++
						}
						t.Logf("%d accepted", len(accepted))
						assert.Equal(t, accepted, arrived)
						assert.Greater(t, len(accepted), 50)
						assert.Equal(t, map[string]int64{"": 0}, h.counts("held_messages"))
						h.balanced()
					})
				})
			}
		}
	}
}

// ofSize returns a message of a size that does not compress well.
func ofSize(n, size int) pprofile.Profiles {
	random, text := rand.New(rand.NewPCG(uint64(n), 1)), make([]byte, size)
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	p := recorded()
	attributes := p.ResourceProfiles().At(0).Resource().Attributes()
	attributes.PutInt("n", int64(n))
	attributes.PutEmptyBytes("text").FromRaw(text)
	return p
}
