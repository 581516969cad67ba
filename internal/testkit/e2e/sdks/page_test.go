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

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// row is the result of one run.
type row struct {
	sdk      sdk
	missing  string // the reason why there was no run
	scenario string
	said     report
	spans    map[string]string // names by trace and span ID
	profiles int
	samples  int64
	shares   []share
	links    links
}

var scenarioNames = map[string]string{
	unprofiled: "none", byTransaction: "V1", byHand: "V2, manual", byTrace: "V2, trace", streamed: "V2, trace; spans streamed",
	oneThread: "V2, trace; spans streamed, one thread",
}

const pageHead = `# Compatibility

This page lists the SDK versions, installed from package registries, that were tested against the built collector. The test takes
four minutes and writes this page:

` + "```" + `sh
make sdks
` + "```" + `

Each row is one successful run of the workload in [internal/testkit/e2e/sdks](../internal/testkit/e2e/sdks): nested spans, an error, a log,
and busy functions inside named spans, on two threads, if the SDK supports these. A run fails unless:

- the collector outputs every span, profile, error and log that the SDK reports as sent, and a sample-by-sample comparison shows that no
  data on the wire is lost, duplicated or changed;
- each busy function has its expected share of its thread's time in the flame graph, within four standard deviations of a binomial distribution or five percentage points, whichever is larger. *Share* shows the largest deviation and its limit;
- at least 95% of the samples of busy functions are linked to the right span. The other 5% allows for samplers that take the timestamp
  just before or after the sample. *Linked* is the actual percentage;
- the ` + "`sentry_envelope`" + ` exporter sends all spans with their parents, and all samples with their threads, times and stacks, to a mock Sentry
  server, exactly as the SDK sent them;
- the [tee](../sentryteeextension/README.md) forwards every request with the method, path, headers and bytes that the SDK sent, and Sentry's
  own library (PyPI ` + "`sentry-relay`" + `) normalizes sent and forwarded events identically.

| SDK | Version | Profiling | Spans | Errors | Logs | Profiles | Samples | Share | Linked | Dropped by the SDK |
|---|---|---|---|---|---|---|---|---|---|---|
`

const pageNotes = `
Notes:

- Profiling: a V1 profile belongs to one transaction. V2 is continuous profiling: either the program starts it (` + "`manual`" + `), or it runs while
  a span is active (` + "`trace`" + `).
- Browser: by default, the SDK makes all spans of a page children of the root span. This hides which of several concurrent spans ran on the
  thread, so samples are linked to the root. The test sets ` + "`parentSpanIsAlwaysRootSpan: false`" + `.
- Node: the SDK does not sample worker threads, even if they initialize the SDK.
- Node 11.12.0 and Java 8.62.0 are the newest versions in the registries that the test uses; 11.1.0 and 8.43.0 are the newest with a matching profiler. [Recordings](linking.md#results-with-real-sdks) also cover Java 8.53.0 with a profiler.
- Node 11.12.0 with profiler 11.1.0: spans from this combination have no profiler session ID (` + "`profiler_id`" + `). Samples are linked to them
  only if they are streamed (the default of Node 11) and no other thread has spans at the same time: see
  [linking](linking.md#spans-without-a-profiler-session).
- Node 11 and browser 11 have no V1 profiles. Go 0.27.0 has V1 profiles; Go 0.50.0 has no profiles.
- Ruby: the version in Debian 12, which predates profiles and logs. Rust has no profiles.
- Native: the version in an unofficial crate from 2021, which predates spans and logs. One of its errors is a crash, sent at the program's
  next start.
`

// pageMobile is the text about SDKs that are not run.
const pageMobile = `
## Android and React Native

These SDKs need a device or an emulator, so the test does not run them. Their profiles are tested with other data:

| Data | Origin | Compared with |
|---|---|---|
| method traces (ART), in the file format and in the streaming format | real: two recordings of an Android app, from the tests of Firefox Profiler | threads, methods and events: the Rust crate ` + "`android_trace_log`" + `, which Sentry's ingest uses (file format only); stacks: Firefox Profiler's importer; function durations: Sentry's own processing (PyPI ` + "`vroomrs`" + `) of the exported chunks |
| method traces in format versions 1 to 3, with every clock type | generated | a slow, simple reference implementation, which looks up each thread's stack once per sampling period |
| Perfetto traces | generated with the Python package ` + "`perfetto`" + ` | a slow reference reader that uses the same protobuf definitions |
| requests from both SDKs: V1 profiles, chunks, Perfetto chunks, ` + "`js_profile`" + ` | hand-written, based on the documentation and sources of the SDKs and of Sentry's ingest | reviewed line by line: ` + "`testdata/cases/android-*`" + `, ` + "`react-native-*`" + ` |
`

// writeCompatibility writes the page with the results of all runs.
func writeCompatibility(t *testing.T, rows []row) {
	var page strings.Builder
	page.WriteString(pageHead)
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
		page.WriteString("\nNot run:\n\n" + strings.Join(missing, ""))
	}
	page.WriteString(pageMobile)
	require.NoError(t, os.WriteFile(filepath.Join(golden.Root(t), "docs", "compatibility.md"), []byte(page.String()), 0o644))
}

func (r row) line() string {
	cells := []any{r.sdk.name, r.sdk.version, scenarioNames[r.scenario], orNone(len(r.said.Spans)), len(r.said.Errors), orNone(len(r.said.Logs)),
		orNone(r.profiles), orNone(int(r.samples)), r.worstShare(), r.links, r.dropped()}
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
	return fmt.Sprintf("%.1f of ±%.1f", 100*math.Abs(s.got-s.want), 100*s.allowed)
}

func (l links) String() string {
	if l.all() == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(l.right)/float64(l.all()))
}

// dropped returns the SDK's report of data that it did not send.
func (r row) dropped() string {
	if r.said.Dropped == nil {
		return "not reported"
	}
	var list []string
	for what, count := range r.said.Dropped {
		list = append(list, fmt.Sprintf("%d %s", count, what))
	}
	slices.Sort(list)
	return cmp.Or(strings.Join(list, ", "), "nothing")
}

func orNone(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
