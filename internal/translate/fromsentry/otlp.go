// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// OTLP that a client sends to the endpoints of its DSN becomes data of the client's project, in
// place: it gets the same resource attributes as the project's other data, regardless of the values
// that the client sends, and has no personal data unless Source.IncludePII is set. Parts without
// data are removed, because each resource gains attributes.

// AdoptTraces adopts spans.
func AdoptTraces(data ptrace.Traces, src Source) {
	data.ResourceSpans().RemoveIf(func(resource ptrace.ResourceSpans) bool {
		resource.ScopeSpans().RemoveIf(func(scope ptrace.ScopeSpans) bool { return scope.Spans().Len() == 0 })
		return resource.ScopeSpans().Len() == 0
	})
	for _, resource := range data.ResourceSpans().All() {
		src.adopt(resource.Resource().Attributes())
		for _, scope := range resource.ScopeSpans().All() {
			src.removePersonal(scope.Scope().Attributes())
			for _, span := range scope.Spans().All() {
				src.adoptSpan(span)
			}
		}
	}
}

func (src Source) adoptSpan(span ptrace.Span) {
	if src.IncludePII {
		return
	}
	span.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool { return isPersonalOnSpan(key, span.Kind()) })
	src.removePersonal(span.Attributes())
	for _, event := range span.Events().All() {
		src.removePersonal(event.Attributes())
	}
	for _, link := range span.Links().All() {
		src.removePersonal(link.Attributes())
	}
}

// AdoptLogs adopts log records.
func AdoptLogs(data plog.Logs, src Source) {
	data.ResourceLogs().RemoveIf(func(resource plog.ResourceLogs) bool {
		resource.ScopeLogs().RemoveIf(func(scope plog.ScopeLogs) bool { return scope.LogRecords().Len() == 0 })
		return resource.ScopeLogs().Len() == 0
	})
	for _, resource := range data.ResourceLogs().All() {
		src.adopt(resource.Resource().Attributes())
		for _, scope := range resource.ScopeLogs().All() {
			src.removePersonal(scope.Scope().Attributes())
			for _, record := range scope.LogRecords().All() {
				src.removePersonal(record.Attributes())
				if !src.IncludePII {
					attr.RemovePersonalIn(record.Body())
				}
			}
		}
	}
}

// AdoptMetrics adopts metrics.
func AdoptMetrics(data pmetric.Metrics, src Source) {
	data.ResourceMetrics().RemoveIf(func(resource pmetric.ResourceMetrics) bool {
		resource.ScopeMetrics().RemoveIf(func(scope pmetric.ScopeMetrics) bool { return scope.Metrics().Len() == 0 })
		return resource.ScopeMetrics().Len() == 0
	})
	for _, resource := range data.ResourceMetrics().All() {
		src.adopt(resource.Resource().Attributes())
		for _, scope := range resource.ScopeMetrics().All() {
			src.removePersonal(scope.Scope().Attributes())
			for _, metric := range scope.Metrics().All() {
				src.adoptPoints(metric)
			}
		}
	}
}

func (src Source) adoptPoints(metric pmetric.Metric) {
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		for _, point := range metric.Gauge().DataPoints().All() {
			src.adoptPoint(point.Attributes(), point.Exemplars())
		}
	case pmetric.MetricTypeSum:
		for _, point := range metric.Sum().DataPoints().All() {
			src.adoptPoint(point.Attributes(), point.Exemplars())
		}
	case pmetric.MetricTypeHistogram:
		for _, point := range metric.Histogram().DataPoints().All() {
			src.adoptPoint(point.Attributes(), point.Exemplars())
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, point := range metric.ExponentialHistogram().DataPoints().All() {
			src.adoptPoint(point.Attributes(), point.Exemplars())
		}
	case pmetric.MetricTypeSummary:
		for _, point := range metric.Summary().DataPoints().All() {
			src.removePersonal(point.Attributes())
		}
	}
}

func (src Source) adoptPoint(attributes pcommon.Map, exemplars pmetric.ExemplarSlice) {
	src.removePersonal(attributes)
	for _, exemplar := range exemplars.All() {
		src.removePersonal(exemplar.FilteredAttributes())
	}
}

// AdoptProfiles adopts profiles. Samples refer to attributes by position, so personal attributes
// stay, without their value.
func AdoptProfiles(data pprofile.Profiles, src Source) {
	data.ResourceProfiles().RemoveIf(func(resource pprofile.ResourceProfiles) bool {
		resource.ScopeProfiles().RemoveIf(func(scope pprofile.ScopeProfiles) bool { return scope.Profiles().Len() == 0 })
		return resource.ScopeProfiles().Len() == 0
	})
	for _, resource := range data.ResourceProfiles().All() {
		src.adopt(resource.Resource().Attributes())
		for _, scope := range resource.ScopeProfiles().All() {
			src.removePersonal(scope.Scope().Attributes())
		}
	}
	if src.IncludePII {
		return
	}
	view := dictionary.NewView(data.Dictionary())
	for i, entry := range data.Dictionary().AttributeTable().All() {
		if a, ok := view.Attribute(dictionary.AttributeIndex(i)); ok && attr.IsPersonal(a.Key) {
			entry.Value().SetStr(attr.Filtered)
		} else {
			attr.RemovePersonalIn(entry.Value())
		}
	}
	dictionary.Compact(data) // texts of removed attributes of resources and scopes
}

// adopt assigns a resource to the project. A client may send a key several times, and consumers
// differ in which value they read, so all of them are removed.
func (src Source) adopt(resource pcommon.Map) {
	resource.RemoveIf(func(key string, value pcommon.Value) bool {
		return key == semconv.SentryProjectID || src.configures(key) ||
			key == semconv.ServiceName && attr.IsUnstatedService(value.AsString())
	})
	src.removePersonal(resource)
	attr.PutText(resource, semconv.SentryProjectID, src.ProjectID)
	if _, stated := resource.Get(semconv.ServiceName); !stated {
		resource.PutStr(semconv.ServiceName, src.fallbackName())
	}
	src.configure(resource)
}

func (src Source) configures(key string) bool {
	for i := range src.Resource {
		if src.Resource[i].Key == key {
			return true
		}
	}
	return false
}

// AdoptedWeight returns the memory of the attributes that a resource gains.
func (src Source) AdoptedWeight() int64 {
	const perAttribute = 128 // with the growth of the list
	traces := ptrace.NewTraces()
	attributes := traces.ResourceSpans().AppendEmpty().Resource().Attributes()
	src.adopt(attributes)
	return int64(perAttribute*attributes.Len() + new(ptrace.ProtoMarshaler).TracesSize(traces))
}

func (src Source) removePersonal(attributes pcommon.Map) {
	if !src.IncludePII {
		attr.RemovePersonal(attributes)
	}
}
