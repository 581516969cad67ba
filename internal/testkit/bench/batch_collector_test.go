// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

const batchTimeout = 20 * time.Millisecond

// startBatching starts the built collector with an otlp receiver for each compression, without
// batches and with them.
func startBatching(backend *discard.Backend) (*collector, error) {
	return startCollector(2*len(compressions), func(listen []string) string {
		receivers, exporters, pipelines := "receivers:\n", "exporters:\n", "  pipelines:\n"
		for i, compression := range compressions {
			exporters += fmt.Sprintf("  otlp_http/%s: {endpoint: 'HTTP', compression: %[1]s, sending_queue: {enabled: false}}\n", compression)
			for j, processor := range []string{"profile_transform", "profile_transform/batch"} {
				receivers += fmt.Sprintf("  otlp/%d: {protocols: {http: {endpoint: '%s'}}}\n", 2*i+j, listen[2*i+j])
				pipelines += fmt.Sprintf("    profiles/%d: {receivers: [otlp/%[1]d], processors: [%s], exporters: [otlp_http/%s]}\n",
					2*i+j, processor, compression)
			}
		}
		return backend.Settings(receivers + exporters + fmt.Sprintf(`
processors:
  profile_transform: {link: {wait: 0s}}
  profile_transform/batch: {link: {wait: 0s}, batch: {timeout: %s}}
service:
  telemetry: {metrics: {level: none}, logs: {level: error}}
`, batchTimeout) + pipelines)
	})
}

var compressions = []string{"gzip", "zstd"}

// sendBatches sends the messages to each receiver in turn, so often that it takes a good part of a
// CPU-second, and returns the CPU times of the collector. Messages that are sent together form a
// batch.
func (c *collector) sendBatches(messages [][]byte) []time.Duration {
	var zipped [][]byte
	bytes := 0
	for _, message := range messages {
		zipped, bytes = append(zipped, payload.Zip(message)), bytes+len(message)
	}
	rounds := min(100, 1+(16<<20)/bytes)
	if !testsize.Full() {
		rounds = 1
	}
	took := make([]time.Duration, len(c.listen))
	for i, address := range c.listen {
		c.sendTogether(address, zipped) // fills the pools
		before, err := c.cpu()
		must(err)
		for range rounds {
			c.sendTogether(address, zipped)
		}
		after, err := c.cpu()
		must(err)
		took[i] = max(after-before, tick)
	}
	return took
}

// sendTogether sends messages from several clients, and waits until a batch of them has been
// exported.
func (c *collector) sendTogether(address string, messages [][]byte) {
	var sending sync.WaitGroup
	for i := range clients {
		sending.Go(func() {
			for n := i; n < len(messages); n += clients {
				must(post(request{"http://" + address + profilesPath, "application/x-protobuf", messages[n]}))
			}
		})
	}
	sending.Wait()
	time.Sleep(2 * batchTimeout)
}
