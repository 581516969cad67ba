// SPDX-License-Identifier: Apache-2.0

package event

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// A bad element costs itself, by a reason of its own; its neighbors stay, in order.
func TestTraceMetricElements(t *testing.T) {
	const good = `{"timestamp":"2026-11-21T01:20:39.534342401Z","trace_id":"696C4BEB-19eb-05c0-4872-299e75f198a8","span_id":"1d6f40cf57abc4ca",` +
		`"type":"counter","name":"orders","value":1,"unit":"euro","attributes":{"region":{"value":"eu","type":"string"}},"later":[1]}`
	want := TraceMetric{
		Timestamp: jsonscan.Timestamp{UnixNano: 1795224039534342401, Set: true}, TraceID: "696c4beb19eb05c04872299e75f198a8", SpanID: "1d6f40cf57abc4ca",
		Type: MetricCounter, Name: "orders", Value: 1, Unit: "euro", Attributes: []Attribute{{Key: "region", Type: "string", Value: []byte(`"eu"`)}},
	}
	for element, reason := range map[string]discard.Reason{
		`7`:                           ReasonMetricNoObject,
		`null`:                        ReasonMetricNoObject,
		`{}`:                          ReasonMetricNoName,
		`{"name":"a","value":1}`:      ReasonMetricUnknownType,
		`{"name":"a","type":"set"}`:   ReasonMetricUnknownType,
		`{"name":"a","type":"gauge"}`: ReasonMetricNoValue,
		`{"name":"a","type":"gauge","value":"many"}`: ReasonMetricNoValue,
		`{"name":"a","type":"gauge","value":1e999}`:  ReasonMetricNoValue,
		`{"name":"a","type":"counter","value":-0.5}`: ReasonMetricNegativeCounter,
	} {
		c, err := DecodeTraceMetrics([]byte(`{"version":2,"ingest_settings":{"infer_ip":"auto"},"items":[`+good+`,`+element+`,`+good+`]}`), jsonscan.Optional[int]{})
		require.NoError(t, err, element)
		require.Equal(t, []TraceMetric{want, want}, c.Metrics, element)
		require.Equal(t, []discard.Loss{{Reason: reason, Count: 1}}, c.Lost, element)
		require.Equal(t, "auto", c.IngestSettings.InferIP)
	}
}

func TestTraceMetricContainers(t *testing.T) {
	for payload, reason := range map[string]discard.Reason{
		``: jsonscan.ReasonMalformed, `[]`: jsonscan.ReasonMalformed, `{"items":[}`: jsonscan.ReasonMalformed, `{"version":2}`: jsonscan.ReasonNothingUsable,
	} {
		_, err := DecodeTraceMetrics([]byte(payload), jsonscan.Optional[int]{})
		var bad *discard.Error
		require.ErrorAs(t, err, &bad, payload)
		require.Equal(t, reason, bad.Reason, payload)
	}
	c, err := DecodeTraceMetrics([]byte(`{"items":[{"name":"a","type":"gauge","value":2,"timestamp":"soon","trace_id":"0"}]}`), jsonscan.Optional[int]{})
	require.NoError(t, err)
	require.Equal(t, []TraceMetric{{Name: "a", Type: MetricGauge, Value: 2, Timestamp: jsonscan.Timestamp{Bad: true}}}, c.Metrics)
	require.Equal(t, []discard.Flaw{{Field: "timestamp", Count: 1}, {Field: "trace_id", Count: 1}}, c.Flaws)
}
