// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"iter"
	"slices"
	"strings"

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

func AdoptTraces(data ptrace.Traces, src Source) {
	adoptAll(src, data.ResourceSpans(), ptrace.ResourceSpans.ScopeSpans, ptrace.ScopeSpans.Spans, src.adoptSpan)
}

// list is a list of pdata.
type list[E any] interface {
	Len() int
	All() iter.Seq2[int, E]
	RemoveIf(func(E) bool)
}

// adoptAll adopts the resources of a message, their scopes, and with adopt the elements of these.
func adoptAll[Rs list[R], R interface{ Resource() pcommon.Resource }, Ss list[S], S interface {
	Scope() pcommon.InstrumentationScope
}, Es list[E], E any](
	src Source, resources Rs, scopes func(R) Ss, elements func(S) Es, adopt func(E),
) {
	resources.RemoveIf(func(resource R) bool {
		scopes(resource).RemoveIf(func(scope S) bool { return elements(scope).Len() == 0 })
		return scopes(resource).Len() == 0
	})
	for _, resource := range resources.All() {
		src.adopt(resource.Resource().Attributes())
		for _, scope := range scopes(resource).All() {
			src.removePersonal(scope.Scope().Attributes())
			for _, element := range elements(scope).All() {
				adopt(element)
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

func AdoptLogs(data plog.Logs, src Source) {
	adoptAll(src, data.ResourceLogs(), plog.ResourceLogs.ScopeLogs, plog.ScopeLogs.LogRecords, func(record plog.LogRecord) {
		src.removePersonal(record.Attributes())
		if !src.IncludePII {
			attr.RemovePersonalIn(record.Body())
		}
	})
}

func AdoptMetrics(data pmetric.Metrics, src Source) {
	adoptAll(src, data.ResourceMetrics(), pmetric.ResourceMetrics.ScopeMetrics, pmetric.ScopeMetrics.Metrics, func(metric pmetric.Metric) {
		attr.EachPoint(metric, func(attributes pcommon.Map, exemplars iter.Seq2[int, pmetric.Exemplar]) {
			src.removePersonal(attributes)
			for _, exemplar := range exemplars {
				src.removePersonal(exemplar.FilteredAttributes())
			}
		})
	})
}

// AdoptProfiles adopts profiles. Samples refer to attributes by position, so personal attributes
// stay, without their value.
func AdoptProfiles(data pprofile.Profiles, src Source) {
	adoptAll(src, data.ResourceProfiles(), pprofile.ResourceProfiles.ScopeProfiles, pprofile.ScopeProfiles.Profiles, func(pprofile.Profile) {})
	if src.IncludePII {
		return
	}
	view := dictionary.NewView(data.Dictionary())
	for i, entry := range data.Dictionary().AttributeTable().All() {
		if a, ok := view.Attribute(dictionary.AttributeIndex(i)); ok && attr.IsPersonal(a.Key) {
			entry.Value().SetStr(semconv.Filtered)
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
		src.recallService(resource)
	}
	src.configure(resource)
}

// recallService gives a resource without a service that of the SDK in the same process, with what
// else the resource does not state.
func (src Source) recallService(resource pcommon.Map) {
	known, language := src.Known, attr.TextOf(resource, semconv.TelemetrySDKLanguage)
	if known.Language() != language && language != "" { // of another process, or not known
		known = attr.Identity{}
		if src.KnownIn != nil {
			known = src.KnownIn(language)
		}
	}
	name, version := splitRelease(strings.TrimSpace(known.Release))
	for _, field := range [...]struct{ key, text string }{
		{semconv.ServiceName, attr.FirstText(name, src.fallbackName())}, {semconv.ServiceVersion, version},
		{semconv.DeploymentEnvironmentName, known.Environment}, {semconv.SentryRelease, known.Release}, {semconv.SentryDist, known.Dist},
	} {
		if _, stated := resource.Get(field.key); !stated {
			attr.PutText(resource, field.key, field.text)
		}
	}
}

func (src Source) configures(key string) bool {
	return slices.ContainsFunc(src.Resource, func(a Attribute) bool { return a.Key == key })
}

// AdoptedWeight returns the memory of the attributes that a resource gains.
func (src Source) AdoptedWeight() (bytes int64) {
	const perAttribute, recalled = 128, 5 // with the growth of the list
	if src.KnownIn != nil {               // the language is not known yet
		bytes = recalled * (perAttribute + attr.MaxNameBytes)
	}
	traces := ptrace.NewTraces()
	attributes := traces.ResourceSpans().AppendEmpty().Resource().Attributes()
	src.adopt(attributes)
	return bytes + int64(perAttribute*attributes.Len()+new(ptrace.ProtoMarshaler).TracesSize(traces))
}

func (src Source) removePersonal(attributes pcommon.Map) {
	if !src.IncludePII {
		attr.RemovePersonal(attributes)
	}
}
