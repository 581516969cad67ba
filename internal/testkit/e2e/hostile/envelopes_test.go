// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// Bodies with a hostile envelope or headers.
var envelopeAttacks = []attack{
	{name: "an item length of 2^62", status: 400, reason: "envelope_truncated", memory: memorySmall,
		request: func() harness.Request { return claiming("4611686018427387904") }},
	{name: "an item length that does not fit into 64 bits", status: 400, reason: "envelope_truncated", memory: memorySmall,
		request: func() harness.Request { return claiming("99999999999999999999999") }},
	{name: "a negative item length", status: 200, observations: 1, memory: memorySmall, // treated as absent
		request: func() harness.Request { return claiming("-1") }},
	{name: "an item length that is one byte too small", status: 400, reason: "envelope_missing_newline", memory: memorySmall,
		request: func() harness.Request { return claiming(fmt.Sprint(len(harness.Chunk{}.Payload()) - 1)) }},
	{name: "a million items of one byte each", status: 400, reason: "envelope_too_many_items", memory: memorySmall,
		request: func() harness.Request {
			return harness.EnvelopeRequest([]byte("{}\n" + strings.Repeat("{}\nx\n", 1_000_000)))
		}},
	{name: "a million newlines", status: 400, reason: "envelope_empty", memory: memorySmall,
		request: func() harness.Request { return harness.EnvelopeRequest([]byte(strings.Repeat("\n", 1_000_000))) }},
	{name: "an envelope header nested 1,000 levels deep", status: 400, reason: "envelope_invalid_header", memory: memorySmall,
		request: func() harness.Request {
			return harness.EnvelopeRequest([]byte(`{"trace":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}\n"))
		}},
	{name: "an envelope header of 10 MiB", status: 400, reason: "envelope_header_too_large", memory: memorySmall,
		request: func() harness.Request {
			return harness.EnvelopeRequest([]byte(`{"sdk":"` + strings.Repeat("x", 10<<20) + "\"}\n"))
		}},
	{name: "an item header with a million keys", status: 400, reason: "envelope_header_too_large", memory: memorySmall,
		request: func() harness.Request {
			members := harness.List(1_000_000, harness.Numbered(`"`, `":0`))
			return harness.EnvelopeRequest([]byte("{}\n{" + members + "}\n{}\n"))
		}},
	{name: "binary garbage", status: 400, reason: "envelope_invalid_header", memory: memorySmall,
		request: func() harness.Request {
			return harness.EnvelopeRequest([]byte(strings.Repeat("\x00\xff\xfe{", 1_000_000)))
		}},
	{name: "1,000 profiles in one envelope", status: 200, observations: 1000, memory: memorySmall,
		request: func() harness.Request {
			var b strings.Builder
			b.WriteString("{}\n")
			for range 1000 {
				b.WriteString("{\"type\":\"profile_chunk\"}\n" + harness.Chunk{}.Payload() + "\n")
			}
			return harness.EnvelopeRequest([]byte(b.String()))
		}},
	{name: "1,000 unknown item types", status: 200, memory: memorySmall,
		request: func() harness.Request {
			var b strings.Builder
			b.WriteString("{}\n")
			for i := range 1000 {
				fmt.Fprintf(&b, "{\"type\":\"made_up_%d\"}\n{}\n", i)
			}
			return harness.EnvelopeRequest([]byte(b.String()))
		}},
	{name: "100 keys in the query string", status: 401, reason: "auth_multiple", memory: memorySmall,
		request: func() harness.Request {
			r := harness.Chunk{}.Request()
			r.Target += "?" + strings.TrimSuffix(strings.Repeat("sentry_key=abc&sentry_key=def&", 50), "&")
			return r
		}},
}

// claiming returns an envelope whose item states a wrong length.
func claiming(length string) harness.Request {
	return harness.EnvelopeRequest([]byte(fmt.Sprintf("{}\n{\"type\":\"profile_chunk\",\"length\":%s}\n%s\n", length, harness.Chunk{}.Payload())))
}
