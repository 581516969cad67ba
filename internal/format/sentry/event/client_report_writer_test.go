// SPDX-License-Identifier: Apache-2.0

package event

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

func TestAppendClientReport(t *testing.T) {
	report := &ClientReport{Timestamp: jsonscan.Timestamp{UnixNano: 1_700_000_000_250_000_000, Set: true}, Events: []LostEvents{
		{Outcome: OutcomeClientDiscard, Reason: "sample_rate", Category: "span", Quantity: 12}, {Outcome: OutcomeClientDiscard, Reason: "before_send", Category: "error", Quantity: 1},
		{Outcome: OutcomeRateLimited, Reason: "generic", Category: "log_byte", Quantity: 1 << 31}, {Outcome: OutcomeFiltered, Reason: "f", Category: "error", Quantity: 0}, {Outcome: OutcomeFilteredSampling, Reason: "", Category: "transaction", Quantity: 2},
	}}
	payload := ClientReports.Append(nil, report)
	assert.JSONEq(t, `{"timestamp":"2023-11-14T22:13:20.25Z",
		"discarded_events":[{"reason":"sample_rate","category":"span","quantity":12},{"reason":"before_send","category":"error","quantity":1}],
		"rate_limited_events":[{"reason":"generic","category":"log_byte","quantity":2147483648}],
		"filtered_events":[{"reason":"f","category":"error","quantity":0}],
		"filtered_sampling_events":[{"category":"transaction","quantity":2}]}`, string(payload))
	again, err := DecodeClientReport(payload)
	require.NoError(t, err)
	assert.Equal(t, report, again)
	assert.JSONEq(t, `{"discarded_events":[]}`, string(ClientReports.Append(nil, &ClientReport{})), "ingest requires the list")
}
