// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// row is the result of one run.
type row struct {
	sdk      sdk
	missing  string // the reason why there was no run
	scenario string
	spans    map[string]string // names by trace and span ID
	samples  int64
	shares   []share
	links    links
}

var scenarioNames = map[string]string{
	unprofiled: "none", byTransaction: "V1", byHand: "V2, manual", byTrace: "V2, trace", streamed: "V2, trace; spans streamed",
	oneThread: "V2, trace; spans streamed, one thread",
}

const pageHead = `# Compatibility

This page lists the SDK versions that were tested with the built collector on DATE. ` + "`make sdks`" + ` takes five minutes and writes this page.

Each row is a successful run of the same [program](../internal/testkit/e2e/sdks): nested spans, an error, a log, and busy functions in named
spans on two threads, as far as the SDK supports them. The test fails unless:

- the collector outputs every span, profile, error and log that the SDK reports as sent, and every sample without loss, duplication or
  change;
- each busy function has its expected share of its thread's time, within four standard deviations or five percentage points, whichever is
  larger. *Share* shows the largest deviation, with its limit in parentheses;
- at least 95% of the samples of busy functions are linked to the right span (*Linked*). Some samplers take the timestamp just before or
  after the sample;
- the ` + "`sentry_envelope`" + ` exporter sends all spans and samples to a mock Sentry server exactly as the SDK sent them;
- the [tee](../sentryteeextension/README.md) forwards every request unchanged, and Sentry's own library (PyPI ` + "`sentry-relay`" + `) normalizes
  sent and forwarded events identically.

| SDK | Version | Profiling | Samples | Share | Linked |
|---|---|---|---|---|---|
`

const pageNotes = `
Notes:

- **Profiling**: V1 profiles belong to a transaction. V2 is continuous profiling, which the program starts (` + "`manual`" + `) or which runs while a
  span is active (` + "`trace`" + `).
- **Browser**: the test sets ` + "`parentSpanIsAlwaysRootSpan: false`" + `; otherwise, samples are linked to the root span.
- **Python 3.0.0b2**: a beta version. It always streams spans, and its errors have no profiler session ID (` + "`profiler_id`" + `).
- **Node 11.12.0 and 10.78.0, Java 8.64.0**: the newest versions in the registries. 11.1.0, 10.75.3 and 8.43.0 are the newest with a
  matching profiler. [Recordings](linking.md#results-with-real-sdks) also cover Java 8.53.0 with a profiler.
- **Node 11.12.0 with profiler 11.1.0, and 10.78.0 with 10.75.3**: spans have [no profiler
  session](linking.md#spans-without-a-profiler-session).
- **First view of a service**: another test runs Flask (Python 2.75.0), Node 11.1.0 and Spring (Java 8.43.0 with its profiler), each with a slow
  function, a slow query and a lock. The first three rows of the service in the [viewer](../profileviewerexporter/README.md#display) name them.
- **No profiles**: Go 0.50.0, Rust, and V1 in Python 3, Node 11 and browser 11. **No logs**: Go 0.27.0.
- **OTLP integrations**: in a second test, Python 2.75.0 and 3.0.0b2, Node 11.12.0 and Go 0.50.0 send spans from OpenTelemetry's SDK to the
  [endpoints for OTLP](../sentryreceiver/README.md#otlp). Spans, logs and errors have the same trace and ` + "`service.name`" + `. Python's
  profiles are linked to the spans. Go's exporter is configured by hand, because the Go module proxy does not serve ` + "`sentry-go/otel/otlp`" + `.
- **OTLP integrations of PHP 4.29.0 and Ruby 6.6.2**: run once by hand, from the sources in their repositories. Spans, logs and errors have
  the same trace and service; without ` + "`OTEL_SERVICE_NAME`" + `, they have the service once the receiver has seen an error or a log. .NET was not
  run.
- **Ruby**: the version in Debian 12, which supports neither profiles nor logs. **Native**: the version in an unofficial crate from 2021,
  which supports neither spans nor logs. One of the errors is a crash, sent on the next start.
`

// pageMobile is the text about SDKs that are not run.
const pageMobile = `
## Android and React Native

These SDKs need a device or an emulator. Their profiles are tested with other data:

| Data | Origin | Compared with |
|---|---|---|
| method traces (ART), file format and streaming format | two real recordings from Firefox Profiler's tests | the Rust crate ` + "`android_trace_log`" + ` used by Sentry's ingest (threads, methods and events; file format only), Firefox Profiler (stacks), and Sentry's ` + "`vroomrs`" + ` from PyPI (durations) |
| method traces, versions 1 to 3, every clock type | generated | a slow reference implementation |
| Perfetto traces | generated with the Python package ` + "`perfetto`" + ` | a slow reference reader with the same protobuf definitions |
| requests from both SDKs: V1 profiles, chunks, Perfetto chunks, ` + "`js_profile`" + ` | hand-written, from documentation and source code | reviewed line by line: ` + "`testdata/cases/android-*`" + `, ` + "`react-native-*`" + ` |
`

// pageIngest is the result of `make relay-ingest`, which does not write the page.
const pageIngest = `
## Sentry's ingest

The ` + "`" + `sentry_envelope` + "`" + ` exporter was judged by Relay 26.9.0 in processing mode on 28 November 2026. The test sends data through the built collector
to Relay and reads what Relay would store:

` + "`" + `` + "`" + `` + "`" + `sh
make relay-ingest RELAY=/path/to/relay
` + "`" + `` + "`" + `` + "`" + `

| Data | Result |
|---|---|
| 784 recorded requests with current times, also sent to Relay without the collector | nothing refused; the same client reports; the same started, errored and crashed sessions by release and environment, without their users; no item has the collector's user agent or SDK name, or its address as a user's |
| 1,500 spans of an OpenTelemetry trace, as transactions and with ` + "`" + `spans_as: spans` + "`" + ` | 1,500 names as sent |
| head sampling of 10% and 12.5% (` + "`" + `ot=th` + "`" + `, ` + "`" + `ot=p` + "`" + `) | counts extrapolated to 100% |
| each item type of a client whose clock is three hours slow or fast | the right times |

Relay's remarks on the recordings are [listed](../internal/testkit/e2e/ingest/testdata/recordings_remarks.txt) with reasons, and so are
[items stored in one case only](../internal/testkit/e2e/ingest/testdata/recordings_items.txt). Differences between fields are logged, not
judged. Relay is not part of this project. Build it from its public source (version 26.9.0 is in PyPI's ` + "`" + `sentry-relay` + "`" + ` 0.10.1) with
` + "`" + `cargo build --release --features processing -p relay` + "`" + `.
`

// writeCompatibility writes the page with the results of all runs.
func writeCompatibility(t *testing.T, rows []row) {
	var page strings.Builder
	page.WriteString(strings.Replace(pageHead, "DATE", time.Now().UTC().Format("2 January 2006"), 1))
	var missing []string
	for _, r := range rows {
		if r.missing != "" {
			missing = append(missing, fmt.Sprintf("- %s %s: %s\n", r.sdk.name, r.sdk.version, r.missing))
			continue
		}
		page.WriteString(r.line())
	}
	page.WriteString(pageNotes)
	if len(missing) > 0 {
		page.WriteString("\nNot tested:\n\n" + strings.Join(missing, ""))
	}
	page.WriteString(pageMobile)
	page.WriteString(pageIngest)
	require.NoError(t, os.WriteFile(filepath.Join(golden.Root(t), "docs", "compatibility.md"), []byte(page.String()), 0o644))
}

func (r row) line() string {
	cells := []any{r.sdk.name, r.sdk.version, scenarioNames[r.scenario], orNone(int(r.samples)), r.worstShare(), r.links}
	line := "|"
	for _, cell := range cells {
		line += fmt.Sprintf(" %v |", cell)
	}
	return line + "\n"
}

// worstShare returns the largest deviation relative to its limit.
func (r row) worstShare() string {
	if len(r.shares) == 0 {
		return "–"
	}
	s := slices.MaxFunc(r.shares, func(a, b share) int {
		return cmp.Compare(math.Abs(a.got-a.want)/a.allowed, math.Abs(b.got-b.want)/b.allowed)
	})
	return fmt.Sprintf("%.1f (±%.1f)", 100*math.Abs(s.got-s.want), 100*s.allowed)
}

func (l links) String() string {
	if l.all() == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(l.right)/float64(l.all()))
}

func orNone(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
