// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestAgreesWithReceiver compares the results with the counters of the receiver, as the goldens of
// all cases state them.
func TestAgreesWithReceiver(t *testing.T) {
	compared := 0
	for _, c := range golden.Cases(t) {
		if c.Envelope == nil {
			continue
		}
		lenient, strict, _ := strings.Cut(c.Read(t, "outcome.txt"), "\nstrict: ")
		for validation, want := range map[profile.Validation]string{profile.Lenient: lenient, profile.Strict: strict} {
			settings := sentryitems.DefaultSettings()
			settings.Validation = validation
			envelope, err := sentry.ReadEnvelope(c.Envelope)
			got := outcome(profilefile.Examine(envelope, settings, time.Now()), err)
			_, counters, _ := strings.Cut(strings.TrimRight(want, "\n"), "\n")
			assert.Equal(t, sortedLines(counters), sortedLines(got), "%s, %s", c.Name, validation)
			compared++
		}
	}
	assert.Greater(t, compared, 400)
}

// outcome writes results as the goldens do.
func outcome(e *profilefile.Examined, framing error) string {
	var text strings.Builder
	lines, sums := map[string]int{}, map[string]int{}
	for _, item := range e.Items {
		label := item.Header.Type.Label()
		if broken, ok := framing.(*sentry.EnvelopeError); ok {
			lines[label+" discarded "+string(broken.Reason)]++
			continue
		}
		switch {
		case !item.Known:
			lines[label+" ignored unsupported_type"]++
		case item.Unusable != nil:
			lines[label+" discarded "+string(item.Unusable.Reason)]++
		case len(item.Deliveries) == 0:
			lines[label+" ignored"]++
		default:
			lines[label+" accepted"]++
		}
		for _, l := range item.Samples {
			sums["samples lost: %d "+string(l.Reason)] += l.Count
		}
		for _, l := range item.Elements {
			sums["elements lost: %d reason="+string(l.Reason)+" type="+label] += l.Count
		}
		for _, f := range item.Fields {
			sums["fields lost: %d field="+f.Field+" type="+label] += f.Count
		}
		for _, rule := range item.Tolerated {
			sums["tolerated: "+rule+" in %d"]++
		}
	}
	if broken, ok := framing.(*sentry.EnvelopeError); ok {
		fmt.Fprintln(&text, "  request rejected", broken.Reason)
	}
	for line, n := range lines {
		fmt.Fprintf(&text, "  %d %s\n", n, line)
	}
	for line, n := range sums {
		fmt.Fprintf(&text, "  "+line+"\n", n)
	}
	return text.String()
}

func sortedLines(text string) []string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	slices.Sort(lines)
	return lines
}

func TestExplain(t *testing.T) {
	out, errors, exit := call(t, "", "explain", "--linked", "testdata/cases/cocoa-v1-native/in.envelope")
	assert.Equal(t, `envelope, 2 items, 3.7 kB
  SDK      sentry.cocoa 8.49.0
  event    b1a2c3d4e5f60718293a4b5c6d7e8f90
  sent     2026-05-01T09:12:44Z
item 1   transaction, 306 B
  becomes 1 span of trace 0c1d2e3f405162738495a6b7c8d9eaf0, first "CartViewController", 2026-05-01T09:12:43.123Z for 500ms
item 2   profile, 3.2 kB
  becomes a profile of wall: 6 observations of 2 threads in 4 stacks, 2026-05-01T09:12:43.123Z for 31.108ms, every 9.90099ms
  becomes 4 data points of 3 metrics: sentry.profile.cpu_energy_usage, sentry.profile.screen_frame_rates, sentry.profile.slow_frame_renders
links    3 observations to spans
  3 observations without one: no_span
       3  5a6b7c8d9eaf0011  CartViewController
`, out)
	assert.Empty(t, errors)
	assert.Equal(t, exitOK, exit)
}

func TestExplainDrops(t *testing.T) {
	out, _, _ := call(t, "", "explain", "testdata/cases/hostile-bad-between-good/in.envelope")
	assert.Contains(t, out, "item 2   profile_chunk, 8 B\n  discarded profiling_invalid_json: ")
	assert.Contains(t, out, "profiling_too_many_profiles", "with strict validation")

	out, _, exit := call(t, "", "explain", "testdata/cases/envelope-truncated/in.envelope")
	assert.Contains(t, out, "rejected envelope_truncated: item 2 at byte 921: ")
	assert.Equal(t, exitFailed, exit)
}

// TestExplainSession links the chunks of a session to spans of other envelopes.
func TestExplainSession(t *testing.T) {
	const session, thread = "1c6f0e4f0b2a4c3d8e9f00112233aabb", "1"
	chunk := `{"version":"2","profiler_id":"` + session + `","chunk_id":"90ab12cd34ef56ab78cd90ef12ab34cd","platform":"python","profile":{` +
		`"frames":[{"function":"main"}],"stacks":[[0]],"samples":[{"timestamp":1777629600.1,"thread_id":"` + thread + `","stack_id":0},` +
		`{"timestamp":1777629700,"thread_id":"` + thread + `","stack_id":0}]}}`
	transaction := `{"type":"transaction","transaction":"/cart","start_timestamp":1777629600,"timestamp":1777629601,"contexts":{` +
		`"trace":{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"a1b2c3d4e5f60718","data":{"thread.id":"` + thread + `"}},"profile":{"profiler_id":"` + session + `"}}}`
	dir := t.TempDir()
	one := write(t, dir, "chunk", "{}\n{\"type\":\"profile_chunk\"}\n"+chunk+"\n")
	other := write(t, dir, "spans", "{}\n{\"type\":\"transaction\"}\n"+transaction+"\n")
	out, _, exit := call(t, "", "explain", "--linked", one, other)
	assert.Contains(t, out, " 1 observation without one: no_span\n")
	assert.Contains(t, out, " 1  a1b2c3d4e5f60718  /cart\n")
	require.Equal(t, exitOK, exit)
}
