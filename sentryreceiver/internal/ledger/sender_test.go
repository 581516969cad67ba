// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

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

// TestSDKsOfTheCorpusAreKnown: each SDK of the recordings has a label of its own.
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
