// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
)

// BenchmarkScrubbing compares the default data scrubbing with the decoding and translation before
// it.
func BenchmarkScrubbing(b *testing.B) {
	scrubber, err := scrub.New(scrub.DefaultConfig())
	must(err)
	items, err := payload.Items()
	must(err)
	for _, item := range items {
		b.Run(item.Name, func(b *testing.B) {
			message := mapItem(item, nil)
			took := race(b, func() { scrubMessage(scrubber, message) }, func() { mapItem(item, nil) })
			report(b, "scrub÷receive", took[0], took[1])
		})
	}
	onEach(b, payload.Typical(typical), func(b *testing.B, p payload.Payload) {
		message := decodeAndMap(p)
		took := race(b, func() { scrubMessage(scrubber, message) }, func() { decodeAndMap(p) })
		report(b, "scrub÷receive", took[0], took[1])
	})
}

// scrubMessage scrubs the same message repeatedly: recordings contain hardly any data to replace.
func scrubMessage(s *scrub.Scrubber, message any) {
	switch message := message.(type) {
	case pprofile.Profiles:
		s.Profiles(message)
	case ptrace.Traces:
		s.Traces(message)
	case plog.Logs:
		s.Logs(message)
	default:
		panic("no message")
	}
}
