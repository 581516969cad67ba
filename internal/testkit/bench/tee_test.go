// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// BenchmarkTee compares the CPU time of the built collector for requests that a sentry_tee forwards
// with the same requests without a tee, over HTTP with gzip and two clients. The time for a
// forwarded request includes its response from Sentry.
func BenchmarkTee(b *testing.B) {
	sentry, err := discard.Start()
	must(err)
	defer sentry.Close()
	c, err := startReceivers(sentry.URL)
	if err != nil {
		b.Skip(err)
	}
	defer c.stop()
	c.sentry = sentry

	onEach(b, nil, nil) // prints the load
	for _, chunk := range []payload.Payload{payload.Python(payload.FiveMB / 100), payload.Python(payload.FiveMB / 10)} {
		benchmarkTee(b, c, fmt.Sprintf("py-%.2gMB", chunk.MB()), chunk.Envelope(), chunk.MB())
	}
	items, err := payload.Items()
	must(err)
	for _, item := range items {
		benchmarkTee(b, c, item.Name, fmt.Appendf(nil, "{}\n{\"type\":%q,\"length\":%d}\n%s\n", item.Type, len(item.JSON), item.JSON), item.MB())
	}
}

func benchmarkTee(b *testing.B, c *receivers, name string, envelope []byte, megabytes float64) {
	b.Run(name, func(b *testing.B) {
		zipped := payload.Zip(envelope)
		times, turns := max(2, int(50/(megabytes+0.05))), 6 // each turn takes some tenths of a CPU-second: the resolution is 10 ms
		if !testsize.Full() {
			times, turns = 2, 1
		}
		var requests []request // in turns
		for range turns {
			requests = append(requests, request{c.sentryURL, "application/x-sentry-envelope", zipped},
				request{c.teeURL, "application/x-sentry-envelope", zipped})
		}
		took, err := c.race(b, times, requests...)
		must(err)
		var none, tee time.Duration
		for turn := range turns {
			none, tee = none+took[2*turn], tee+took[2*turn+1]
		}
		report(b, "tee÷none", tee, none)
	})
}

// awaitForwarded waits until this many requests have arrived at Sentry, and a moment for the
// responses.
func (c *collector) awaitForwarded(n int64) error {
	const patience = time.Minute
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if c.sentry.Requests() >= n {
			time.Sleep(10 * time.Millisecond)
			return nil
		}
	}
	return fmt.Errorf("%d of %d requests were forwarded after %v", c.sentry.Requests(), n, patience)
}
