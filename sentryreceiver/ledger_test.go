// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pprofile"
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
