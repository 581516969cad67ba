// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestLintCorpus: the recorded SDKs follow all rules. Lint reports nothing, not even with --strict,
// and receivers lose nothing.
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
			assert.Empty(t, findingsIn(body, strict, testNow), "%s, strict %t", request.Name, strict)
			assert.Empty(t, receiver.verdict(t, sent), "%s, strict %t", request.Name, strict)
		}
	}
	t.Logf("%d requests", linted)
	least := 600
	if !testsize.Full() {
		least = 100
	}
	assert.Greater(t, linted, least)
}
