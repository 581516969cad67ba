// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

func TestLedgerNamesSenders(t *testing.T) {
	h := start(t, nil)
	named := func(header string) string { return header + "\n" + chunkItem }
	h.post(named(`{}`)) // the credentials say it
	h.post(named(`{"sdk":{"name":"sentry.javascript.browser","version":"11.12.0"}}`))
	h.post(named(`{"sdk":{"name":"evil.sdk","version":"1.0.0"}}`))
	h.sink.respond = func(pprofile.Profiles) error { return assert.AnError }
	h.post(named(`{}`))

	const accepted, end = "outcome=accepted project=42 sdk=", " type=profile_chunk"
	assert.Equal(t, map[string]int64{
		accepted + "sentry.python sdk_version=2.68" + end:                                         1,
		accepted + "sentry.javascript.browser sdk_version=11.12" + end:                            1,
		accepted + "other sdk_version=1.0" + end:                                                  1,
		"outcome=refused project=42 reason=backpressure sdk=sentry.python sdk_version=2.68" + end: 1,
	}, h.counts("otelcol_receiver_sentry_items"))
}

// TestLedgerIsBounded: whatever clients call themselves, there are so many series; nothing is lost from the sum.
func TestLedgerIsBounded(t *testing.T) {
	h := start(t, nil)
	const senders = maxSeries + 500
	for i := range senders {
		from := newSender(fmt.Sprint(i), sentry.ClientSDK{Name: "sentry.go", Version: "0.27.0"})
		h.receiver.Shared.telemetry.itemDone(t.Context(), from, sentry.ItemEvent, pipeline.Accepted, "")
	}
	counts := h.counts("otelcol_receiver_sentry_items")
	assert.Len(t, counts, maxSeries+1)
	assert.Equal(t, int64(500), counts["outcome=accepted project=other sdk=other sdk_version=other type=event"])
}

func TestSenderLabels(t *testing.T) {
	for name, want := range map[string]string{
		"sentry.python":                        "sentry.python",
		"sentry.php.laravel":                   "sentry.php.laravel",
		"sentry.java.spring-boot.jakarta":      "sentry.java.spring-boot.jakarta",
		"sentry.native.android":                "sentry.native.android",
		"sentry.javascript.react-native":       "sentry.javascript.react-native",
		"raven-js":                             "raven-js",
		"":                                     unknown,
		"sentry.":                              other,
		"sentry.cobol":                         other,
		"sentry.go.\n":                         other,
		"sentry.go." + strings.Repeat("x", 40): other,
		"e2e":                                  other,
	} {
		assert.Equal(t, want, sdkLabel(name), "%q", name)
	}
	for version, want := range map[string]string{
		"10.78.0": "10.78", "8.0.0-alpha.3": "8.0", "2.30": "2.30", "1.0rc1": "1.0", "": unknown, "10": other, "x.y": other,
		"123456.1": other, "1.99999": other,
	} {
		assert.Equal(t, want, versionLabel(version), "%q", version)
	}
}

// Every SDK of the recordings is told apart.
func TestSDKsOfTheCorpusAreKnown(t *testing.T) {
	for _, r := range golden.Corpus(t) {
		envelope, err := sentry.ReadEnvelope(r.Decoded(t))
		if err != nil || envelope.Header.SDK.Name == "" {
			continue
		}
		assert.Equal(t, envelope.Header.SDK.Name, sdkLabel(envelope.Header.SDK.Name), r.Name)
		assert.NotContains(t, []string{other, unknown}, versionLabel(envelope.Header.SDK.Version), r.Name)
	}
}
