// SPDX-License-Identifier: Apache-2.0

package event

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

func TestSession(t *testing.T) {
	s, err := DecodeSession([]byte(`{"sid":"9c591ba7-1124-4125-1a25-4ccbe6cd23c4","init":true,"did":"42","seq":3,"status":"abnormal",` +
		`"started":"2026-11-21T01:25:27.8194Z","timestamp":1795224331.5,"duration":0.25,"errors":2,"abnormal_mechanism":"anr_foreground",` +
		`"attrs":{"release":"shop@0.2.0","environment":"production","ip_address":"{{auto}}"}}`))
	require.NoError(t, err)
	require.Equal(t, &Session{
		ID: "9c591ba7112441251a254ccbe6cd23c4", Init: true, Status: "abnormal", Errors: 2, AbnormalMechanism: "anr_foreground",
		Started: jsonscan.Timestamp{UnixNano: 1795224327819400000, Set: true}, Timestamp: jsonscan.Timestamp{UnixNano: 1795224331500000000, Set: true},
		Duration: jsonscan.Some(0.25), Release: "shop@0.2.0", Environment: "production",
	}, s)

	s, err = DecodeSession([]byte(`{"sid":"a","init":1,"duration":-1,"errors":-2,"attrs":[],"status":null}`))
	require.NoError(t, err)
	require.Equal(t, &Session{ID: "a", Status: "ok", Flaws: []discard.Flaw{{Field: "init", Count: 1}, {Field: "duration", Count: 1}, {Field: "errors", Count: 1}, {Field: "attrs", Count: 1}}}, s)

	for payload, reason := range map[string]discard.Reason{`{"errors":1}`: jsonscan.ReasonNothingUsable, `7`: jsonscan.ReasonMalformed, `{"sid":`: jsonscan.ReasonMalformed} {
		_, err := DecodeSession([]byte(payload))
		var bad *discard.Error
		require.ErrorAs(t, err, &bad, payload)
		require.Equal(t, reason, bad.Reason, payload)
	}
}

func TestSessions(t *testing.T) {
	s, err := DecodeSessions([]byte(`{"attrs":{"release":"shop@1"},"aggregates":[{"started":"2026-11-21T01:10:00Z","exited":21,"crashed":1},3,{"exited":"x","errored":5000000000}]}`))
	require.NoError(t, err)
	require.Equal(t, &Sessions{
		Aggregates: []SessionAggregate{{Started: jsonscan.Timestamp{UnixNano: 1795223400000000000, Set: true, WholeSeconds: true}, Exited: 21, Crashed: 1}, {}},
		Release:    "shop@1",
		Tally: discard.Tally{
			Lost:  []discard.Loss{{Reason: ReasonSessionNoObject, Count: 1}},
			Flaws: []discard.Flaw{{Field: "aggregates", Count: 1}, {Field: "exited", Count: 1}, {Field: "errored", Count: 1}},
		},
	}, s)
	_, err = DecodeSessions([]byte(`{"attrs":{}}`))
	require.ErrorContains(t, err, string(jsonscan.ReasonNothingUsable))
}

func TestClientReport(t *testing.T) {
	r, err := DecodeClientReport([]byte(`{"timestamp":"2026-11-21T01:22:33Z","discarded_events":[{"reason":"sample_rate","category":"span","quantity":5},{"reason":"a"},7],` +
		`"rate_limited_events":[{"reason":"quota","category":"error","quantity":"2"}],"filtered_events":null}`))
	require.NoError(t, err)
	require.Equal(t, []LostEvents{{Outcome: OutcomeClientDiscard, Reason: "sample_rate", Category: "span", Quantity: 5}, {Outcome: OutcomeRateLimited, Reason: "quota", Category: "error", Quantity: 2}}, r.Events)
	require.Equal(t, []discard.Loss{{Reason: ReasonReportNoQuantity, Count: 2}}, r.Lost)
	require.Equal(t, uint64(1795224153000000000), r.Timestamp.UnixNano)
	_, err = DecodeClientReport([]byte(`{"timestamp":1}`))
	require.ErrorContains(t, err, string(jsonscan.ReasonNothingUsable))
}
