// SPDX-License-Identifier: Apache-2.0

package event

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// TestAppendEventForgetsNoField: an event with all fields returns with all fields.
func TestAppendEventForgetsNoField(t *testing.T) {
	for _, name := range []string{"all-fields-event", "event-native", "event-python-attachments"} {
		sent, err := DecodeEvent(caseItem(t, name, sentry.ItemEvent))
		require.NoError(t, err)
		payload := Events.Append([]byte("before"), sent)[len("before"):]
		require.True(t, json.Valid(payload), "%s", payload)
		back, err := DecodeEvent(payload)
		require.NoError(t, err)
		sent.Flaws = nil                                                        // of fields that were dropped
		sent.Timestamp.WholeSeconds, back.Timestamp.WholeSeconds = false, false // of RFC 3339
		assert.Equal(t, sent, back, name)
		assert.Equal(t, string(payload), string(Events.Append(nil, back)))
	}
	assert.Equal(t, "{}", string(Events.Append(nil, &ErrorEvent{})))
}

// TestFingerprint: Sentry accepts numbers and booleans, and drops other elements.
func TestFingerprint(t *testing.T) {
	e, err := DecodeEvent([]byte(`{"fingerprint":["a",{"x":1},9007199254740993,1.5,1e99,true,null,""]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "9007199254740993", "1", "True", ""}, e.Fingerprint)
	require.Equal(t, []discard.Flaw{{Field: "fingerprint", Count: 2}}, e.Flaws)
}

// TestNeverInferIP: the setting replaces that of the SDK, and other settings stay.
func TestNeverInferIP(t *testing.T) {
	for _, test := range []struct{ sent, means, written string }{
		{``, InferLegacy, `{"infer_ip":"never"}`},
		{`,"settings":{}`, InferLegacy, `{"infer_ip":"never"}`},
		{`,"settings":{"infer_ip":"auto"}`, InferAuto, `{"infer_ip":"never"}`},
		{`,"settings":{"infer_ip":"legacy"}`, InferLegacy, `{"infer_ip":"never"}`},
		{`,"settings":{"infer_ip":null}`, InferLegacy, `{"infer_ip":"never"}`},
		{`,"settings":{"infer_ip":"sometimes"}`, InferNever, `{"infer_ip":"never"}`},
		{`,"settings":{"infer_ip":5}`, InferNever, `{"infer_ip":"never"}`},
		{`,"settings":{"infer_ip":"never","later":[1]}`, InferNever, `{"infer_ip":"never","later":[1]}`},
	} {
		e, err := DecodeEvent([]byte(`{"event_id":"c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7","sdk":{"name":"n"` + test.sent + `}}`))
		require.NoError(t, err)
		require.Equal(t, test.means, e.SDK.InferIP(), test.sent)
		e.SDK.NeverInferIP()
		require.Contains(t, string(Events.Append(nil, e)), `"sdk":{"name":"n","settings":`+test.written+`}`, test.sent)
	}
}
