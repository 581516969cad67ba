// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/oracle"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// linkWait is how long profiles wait for spans. Workloads end with a flush, so that all data
// arrives within a second.
const linkWait = 3 * time.Second

// both is a configuration with Sentry as input, and as outputs OTLP, with links, and Sentry:
// converted from OTLP, and forwarded by a tee.
func both(backend *harness.Sink, server *fakesentry.Server, upstream string) harness.Settings {
	return harness.Settings{Config: fmt.Sprintf(`
extensions:
  sentry_tee: {upstream: '%s'}
receivers:
  sentry: {endpoint: ENDPOINT, middlewares: [{id: sentry_tee}]}
processors:
  profile_transform: {link: {wait: %s}}
exporters:
  otlp_http: {endpoint: %s, compression: none, sending_queue: {enabled: false}}
  sentry_envelope: {dsn: %q}
service:
  extensions: [sentry_tee]
  pipelines:
    profiles: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http, sentry_envelope]}
    traces: {receivers: [sentry], processors: [profile_transform], exporters: [otlp_http, sentry_envelope]}
    logs: {receivers: [sentry], exporters: [otlp_http]}
    metrics: {receivers: [sentry], exporters: [otlp_http]}
`, upstream, linkWait, backend.URL(), server.DSN())}
}

// checkSDK runs a workload, and compares the SDK's report, the requests that it sent, and the
// output of the collector.
func checkSDK(t *testing.T, s sdk, scenario string) row {
	backend := harness.NewSink(t)
	server := fakesentry.Start(t)
	upstream := newUpstream(t)
	c := harness.Start(t, both(backend, server, upstream.URL))
	between := newRecorder(t, c.Address)

	said := s.run(t, scenario, between.dsn())
	envelopes := between.envelopes(t)
	messages := await(t, backend, countProfiles(envelopes))
	compareForwarded(t, between.all(), upstream)
	c.Stop(t) // afterwards, the collector holds no data
	for path, more := range backend.DrainAll() {
		assert.Empty(t, more, "%s: came after all was there", path)
	}

	r := row{sdk: s, scenario: scenario}
	compareSent(t, envelopes, messages)
	compareOut(t, envelopes, server.Taken())
	r.spans = checkSaid(t, said, messages)
	checkComplete(t, said, scenario, countProfiles(envelopes))
	profiles := readProfiles(t, messages[harness.ProfilesPath])
	r.samples = countSamples(profiles)
	if scenario != unprofiled {
		r.shares = checkShares(t, said.Busy, profiles)
		r.links = checkLinks(t, said.Busy, profiles, r.spans)
	}
	return r
}

// compareSent checks that the output equals the sent data, item by item and sample by sample.
func compareSent(t *testing.T, envelopes []*sentry.Envelope, messages map[string][][]byte) {
	total := oracle.NewTally()
	var all []sentry.Item
	var want []string
	for _, envelope := range envelopes {
		all = append(all, envelope.Items...)
		expected, err := oracle.ExpectAll(envelope)
		require.NoError(t, err)
		want = append(want, expected...)
	}
	assert.NoError(t, total.CompareProfiles(all, messages[harness.ProfilesPath]))
	assert.NoError(t, total.CompareTexts(want, messages))
}

// checkSaid checks that the output contains everything that the SDK reports as sent. It returns the
// names of the output spans by trace and span ID.
func checkSaid(t *testing.T, said report, messages map[string][][]byte) map[string]string {
	texts, _, err := oracle.Received(messages)
	require.NoError(t, err)
	spans := map[string]string{}
	list, err := oracle.Spans(messages[harness.TracesPath])
	require.NoError(t, err)
	for _, span := range list {
		spans[span.TraceID().String()+"/"+span.SpanID().String()] = span.Name()
	}
	for _, id := range said.Spans {
		assert.Contains(t, spans, id, "span")
	}
	for _, id := range said.Errors {
		assert.Contains(t, texts, "record event "+strings.ReplaceAll(id, "-", ""))
	}
	for _, body := range said.Logs {
		assert.True(t, slices.ContainsFunc(texts, func(text string) bool {
			return strings.HasPrefix(text, "record log ") && strings.HasSuffix(text, " "+body)
		}), "log %s", body)
	}
	var profiles []string
	for _, message := range messages[harness.ProfilesPath] {
		profile, err := harness.DecodeProfiles(message)
		require.NoError(t, err)
		profiles = append(profiles, harness.ProfileID(profile))
	}
	for _, id := range said.Profiles {
		assert.Contains(t, profiles, strings.ReplaceAll(id, "-", ""))
	}
	return spans
}

// checkComplete checks that the SDK sent the data of the whole workload. Otherwise the other checks
// prove nothing.
func checkComplete(t *testing.T, said report, scenario string, profiles int) {
	if said.Spans != nil {
		assert.NotEmpty(t, said.Spans)
	}
	assert.NotEmpty(t, said.Errors)
	assert.Equal(t, scenario != unprofiled, profiles > 0, "profiles in scenario %s", scenario)
	if said.Profiles != nil {
		assert.Len(t, said.Profiles, profiles)
	}
	for what, count := range said.Dropped {
		t.Logf("dropped by the SDK: %s %d", what, count)
	}
}

func countProfiles(envelopes []*sentry.Envelope) (n int) {
	for _, envelope := range envelopes {
		for _, item := range envelope.Items {
			if item.Header.Type == sentry.ItemProfile || item.Header.Type == sentry.ItemProfileChunk {
				n++
			}
		}
	}
	return n
}

// await waits until this number of profiles has left the processor, which holds them for a while.
// Other data leaves at once.
func await(t *testing.T, backend *harness.Sink, profiles int) map[string][][]byte {
	messages := map[string][][]byte{}
	for deadline := time.Now().Add(linkWait + 10*time.Second); ; time.Sleep(50 * time.Millisecond) {
		for path, more := range backend.DrainAll() {
			messages[path] = append(messages[path], more...)
		}
		if len(messages[harness.ProfilesPath]) >= profiles {
			return messages
		}
		if time.Now().After(deadline) {
			require.Len(t, messages[harness.ProfilesPath], profiles, "profiles that came out")
		}
	}
}

func readProfiles(t *testing.T, messages [][]byte) (profiles []*timeline.Profile) {
	for _, message := range messages {
		decoded, err := harness.DecodeProfiles(message)
		require.NoError(t, err)
		profiles = append(profiles, timelinetest.Read(decoded.Dictionary(), harness.OnlyProfile(decoded)))
	}
	return profiles
}

func countSamples(profiles []*timeline.Profile) (n int64) {
	for _, p := range profiles {
		for _, sample := range p.Selected(timeline.Filter{}) {
			n += sample.Count
		}
	}
	return n
}
