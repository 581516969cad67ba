// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestLintCorpus: the recorded SDKs follow all rules. Lint reports nothing, not even with --strict,
// and receivers lose nothing, apart from one field that Sentry drops too.
func TestLintCorpus(t *testing.T) {
	t.Parallel()
	receivers := map[bool]*lintedReceiver{false: startReceiver(t, profile.Lenient), true: startReceiver(t, profile.Strict)}
	linted := 0
	for _, request := range golden.Sample(t) {
		body := request.Decoded(t)
		if request.EnvelopeKeys == nil {
			continue // lint is for envelopes
		}
		linted++
		sent := bytes.ReplaceAll(body, []byte(`"dsn"`), []byte(`"DSN"`)) // authentication is not linted
		for strict, receiver := range receivers {
			findings := slices.DeleteFunc(findingsIn(body, strict, testNow), func(f finding) bool {
				return f.Rule == "unmapped_field" && strings.HasSuffix(f.Message, ": _metrics_summary") // Node 8, of a retired product
			})
			assert.Empty(t, findings, "%s, strict %t", request.Name, strict)
			losses := receiver.verdict(t, sent)
			delete(losses, "field transaction unmapped_field")
			assert.Empty(t, losses, "%s, strict %t", request.Name, strict)
		}
	}
	t.Logf("%d requests", linted)
	least := 600
	if !testsize.Full() {
		least = 100
	}
	assert.Greater(t, linted, least)
}
