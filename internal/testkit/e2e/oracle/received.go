// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"cmp"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// Received returns the elements of the messages, except profiles, as texts in the form of Expect,
// and the parents of spans, both as trace/id.
func Received(messages map[string][][]byte) (texts []string, parents map[string]string, err error) {
	parents = map[string]string{}
	spans, err := Spans(messages[harness.TracesPath])
	if err != nil {
		return nil, nil, err
	}
	for _, span := range spans {
		trace, id, parent := span.TraceID().String(), span.SpanID().String(), span.ParentSpanID().String()
		texts = append(texts, spanText(trace, id, parent))
		parents[trace+"/"+id] = trace + "/" + parent
	}
	for _, message := range messages[harness.LogsPath] {
		request := plogotlp.NewExportRequest()
		if err := request.UnmarshalProto(message); err != nil {
			return nil, nil, err
		}
		for _, record := range recordsOf(request.Logs()) {
			texts = append(texts, seenRecord(record))
		}
	}
	for _, message := range messages[harness.MetricsPath] {
		request := pmetricotlp.NewExportRequest()
		if err := request.UnmarshalProto(message); err != nil {
			return nil, nil, err
		}
		for _, metric := range metricsOf(request.Metrics()) {
			texts = append(texts, seenPoints(metric)...)
		}
	}
	return texts, parents, nil
}

// word returns the first word of a text.
func word(text string) string {
	first, _, _ := strings.Cut(text, " ")
	return first
}

// Spans returns the spans of traces messages.
func Spans(messages [][]byte) (spans []ptrace.Span, err error) {
	for _, message := range messages {
		request := ptraceotlp.NewExportRequest()
		if err := request.UnmarshalProto(message); err != nil {
			return nil, err
		}
		for _, resource := range request.Traces().ResourceSpans().All() {
			for _, scope := range resource.ScopeSpans().All() {
				for _, span := range scope.Spans().All() {
					spans = append(spans, span)
				}
			}
		}
	}
	return spans, nil
}

func recordsOf(logs plog.Logs) (records []plog.LogRecord) {
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				records = append(records, record)
			}
		}
	}
	return records
}

func metricsOf(all pmetric.Metrics) (metrics []pmetric.Metric) {
	for _, resource := range all.ResourceMetrics().All() {
		for _, scope := range resource.ScopeMetrics().All() {
			for _, metric := range scope.Metrics().All() {
				metrics = append(metrics, metric)
			}
		}
	}
	return metrics
}

func seenRecord(record plog.LogRecord) string {
	get := func(key string) string { return attributeText(record.Attributes(), key) }
	switch kind := get("sentry.item.type"); kind {
	case "":
		return "record log " + record.TraceID().String() + " " + record.Body().Str()
	case "event":
		return "record event " + get("sentry.event.id")
	case "feedback":
		return "record feedback " + record.Body().Str()
	case "check_in":
		return "record check_in " + get("sentry.check_in.id") + " " + get("sentry.check_in.status")
	case "attachment":
		return "record attachment " + get("file.name") + " " + get("sentry.item.size")
	default:
		return "record " + kind + " " + get("sentry.item.size")
	}
}

// tellingApart are the distinguishing attributes of points that Expect uses, in its order.
var tellingApart = []string{
	"sentry.session.status", "sentry.monitor.slug", "sentry.check_in.status",
	"sentry.client_report.reason", "sentry.client_report.category", "sentry.client_report.outcome",
	"sentry.profile_id", "sentry.chunk_id",
}

func seenPoints(metric pmetric.Metric) (texts []string) {
	add := func(attributes pcommon.Map, exemplars pmetric.ExemplarSlice, value ...any) {
		recording := pcommon.NewMap() // that the first exemplar is about
		if exemplars.Len() > 0 {
			recording = exemplars.At(0).FilteredAttributes()
		}
		var words []any
		for _, key := range tellingApart {
			words = append(words, cmp.Or(attributeText(attributes, key), attributeText(recording, key)))
		}
		texts = append(texts, pointText(metric.Name(), append(words, value...)...))
	}
	for _, point := range numbersOf(metric) {
		if point.ValueType() == pmetric.NumberDataPointValueTypeInt {
			add(point.Attributes(), point.Exemplars(), point.IntValue())
		} else {
			add(point.Attributes(), point.Exemplars(), point.DoubleValue())
		}
	}
	if metric.Type() == pmetric.MetricTypeExponentialHistogram {
		for _, point := range metric.ExponentialHistogram().DataPoints().All() {
			add(point.Attributes(), point.Exemplars(), point.Count(), point.Sum())
		}
	}
	return texts
}

func numbersOf(metric pmetric.Metric) (points []pmetric.NumberDataPoint) {
	list := pmetric.NewNumberDataPointSlice()
	switch metric.Type() {
	case pmetric.MetricTypeSum:
		list = metric.Sum().DataPoints()
	case pmetric.MetricTypeGauge:
		list = metric.Gauge().DataPoints()
	}
	for _, point := range list.All() {
		points = append(points, point)
	}
	return points
}

// attributeText returns the value of an attribute as text, "" if it is missing.
func attributeText(attributes pcommon.Map, key string) string {
	value, ok := attributes.Get(key)
	if !ok {
		return ""
	}
	return value.AsString()
}
