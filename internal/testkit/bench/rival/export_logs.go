// SPDX-License-Identifier: Apache-2.0

package rival

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Translations of logs and metrics with structs that encoding/json marshals. They support only the
// fields in the payloads of the benchmarks, and check no limits.

type outValue struct {
	Value any    `json:"value"`
	Type  string `json:"type"`
}

func outValueOf(v pcommon.Value) outValue {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return outValue{v.Int(), "integer"}
	case pcommon.ValueTypeDouble:
		return outValue{v.Double(), "double"}
	case pcommon.ValueTypeBool:
		return outValue{v.Bool(), "boolean"}
	case pcommon.ValueTypeSlice:
		return outValue{v.Slice().AsRaw(), "array"}
	}
	return outValue{v.AsString(), "string"}
}

// outAttributes returns the attributes of an element and those of its resource.
func outAttributes(shared map[string]outValue, attrs pcommon.Map) map[string]outValue {
	out := make(map[string]outValue, len(shared)+attrs.Len())
	for key, value := range shared {
		out[key] = value
	}
	for key, value := range attrs.All() {
		out[key] = outValueOf(value)
	}
	return out
}

// sharedAttributes returns the attributes that each element repeats.
func sharedAttributes(resource pcommon.Map) map[string]outValue {
	shared := map[string]outValue{}
	for sent, key := range map[string]string{"sentry.release": "sentry.release", "sentry.environment": "deployment.environment.name",
		"sentry.sdk.name": "telemetry.sdk.name", "sentry.sdk.version": "telemetry.sdk.version", "sentry.platform": "sentry.platform"} {
		if value, ok := resource.Get(key); ok {
			shared[sent] = outValueOf(value)
		}
	}
	return shared
}

type outLog struct {
	Timestamp      float64             `json:"timestamp"`
	TraceID        string              `json:"trace_id"`
	SpanID         string              `json:"span_id,omitempty"`
	Level          string              `json:"level"`
	SeverityNumber int32               `json:"severity_number,omitempty"`
	Body           string              `json:"body"`
	Attributes     map[string]outValue `json:"attributes"`
}

type outItems[T any] struct {
	Version  int               `json:"version"`
	Settings map[string]string `json:"ingest_settings"`
	Items    []T               `json:"items"`
}

func newItems[T any]() outItems[T] {
	return outItems[T]{Version: 2, Settings: map[string]string{"infer_ip": "never", "infer_user_agent": "never"}}
}

// MarshalLogs returns containers of up to 100 logs.
func MarshalLogs(logs plog.Logs) (payloads [][]byte, err error) {
	resource := logs.ResourceLogs().At(0)
	shared := sharedAttributes(resource.Resource().Attributes())
	out := newItems[outLog]()
	records := resource.ScopeLogs().At(0).LogRecords()
	for i, record := range records.All() {
		out.Items = append(out.Items, outLog{
			Timestamp: float64(record.Timestamp()) / 1e9, TraceID: traceID(record.TraceID()), SpanID: spanID(record.SpanID()),
			Level: record.SeverityText(), SeverityNumber: int32(record.SeverityNumber()), Body: record.Body().AsString(),
			Attributes: outAttributes(shared, record.Attributes()),
		})
		if len(out.Items) == 100 || i == records.Len()-1 {
			text, err := json.Marshal(&out)
			if err != nil {
				return nil, err
			}
			payloads, out.Items = append(payloads, text), out.Items[:0]
		}
	}
	return payloads, nil
}

type outMetric struct {
	Timestamp  float64             `json:"timestamp"`
	TraceID    string              `json:"trace_id"`
	Name       string              `json:"name"`
	Type       string              `json:"type"`
	Value      float64             `json:"value"`
	Unit       string              `json:"unit,omitempty"`
	Attributes map[string]outValue `json:"attributes"`
}

// MarshalMetrics returns containers of up to 1000 points of OpenTelemetry's counters and gauges.
func MarshalMetrics(metrics pmetric.Metrics) (payloads [][]byte, err error) {
	resource, scope := metrics.ResourceMetrics().At(0), metrics.ResourceMetrics().At(0).ScopeMetrics().At(0)
	attributes := resource.Resource().Attributes()
	shared := sharedAttributes(attributes)
	for key, value := range attributes.All() {
		if !strings.HasPrefix(key, "telemetry.sdk.") || key == "telemetry.sdk.language" {
			shared["resource."+key] = outValueOf(value)
		}
	}
	shared["sentry.release"] = outValue{text(attributes, "service.name") + "@" + text(attributes, "service.version"), "string"}
	shared["sentry.platform"] = outValueOf(pcommon.NewValueStr(text(attributes, "telemetry.sdk.language"))) // java is the name of both
	shared["instrumentation.name"] = outValue{scope.Scope().Name(), "string"}
	shared["sentry.trace_id.synthetic"] = outValue{true, "boolean"}
	out := newItems[outMetric]()
	synthetic := ""
	flush := func() error {
		text, err := json.Marshal(&out)
		payloads, out.Items = append(payloads, text), out.Items[:0]
		return err
	}
	for _, metric := range scope.Metrics().All() {
		kind, points := "gauge", pmetric.NumberDataPointSlice{}
		if metric.Type() == pmetric.MetricTypeSum {
			kind, points = "counter", metric.Sum().DataPoints()
		} else {
			points = metric.Gauge().DataPoints()
		}
		for _, point := range points.All() {
			if synthetic == "" { // all points are of one hour
				hour := strconv.Itoa(int(point.Timestamp().AsTime().Unix() / 3600))
				synthetic = attr.HashID("trace", attr.ProfilerSession(attributes, nil, true), hour)
			}
			value := point.DoubleValue()
			if point.ValueType() == pmetric.NumberDataPointValueTypeInt {
				value = float64(point.IntValue())
			}
			attributes := outAttributes(shared, point.Attributes())
			if unit := attr.SentryUnit(metric.Unit()); strings.HasPrefix(metric.Unit(), "{") { // ingest removes custom units
				attributes["sentry.metric.unit"] = outValue{unit, "string"}
			}
			out.Items = append(out.Items, outMetric{
				Timestamp: float64(point.Timestamp()) / 1e9, TraceID: synthetic, Name: metric.Name(), Type: kind, Value: value,
				Unit: attr.SentryUnit(metric.Unit()), Attributes: attributes,
			})
			if len(out.Items) == 1000 {
				if err := flush(); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(out.Items) == 0 {
		return payloads, nil
	}
	return payloads, flush()
}

func traceID(id pcommon.TraceID) string { return hex.EncodeToString(id[:]) }

func spanID(id pcommon.SpanID) string {
	if id.IsEmpty() {
		return ""
	}
	return hex.EncodeToString(id[:])
}
