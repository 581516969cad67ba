// SPDX-License-Identifier: Apache-2.0

package sentryitems

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/otlpsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// ReasonInvalidOTLP is the reason for an item that is not an OTLP message in its encoding.
const ReasonInvalidOTLP discard.Reason = "invalid_otlp"

// otlp is an OTLP message of a signal.
type otlp[M any] struct {
	size        *otlpsize.Message
	copies      int64 // in memory: scrubbing rebuilds the tables of profiles
	proto, json func([]byte) (M, error)
	resources   func(M) int   // their number
	shared      func(M) int64 // bytes of texts that the decoder shares
	adopt       func(M, fromsentry.Source)
}

var (
	otlpTraces = otlp[ptrace.Traces]{otlpsize.Traces, 1, new(ptrace.ProtoUnmarshaler).UnmarshalTraces, new(ptrace.JSONUnmarshaler).UnmarshalTraces,
		func(m ptrace.Traces) int { return m.ResourceSpans().Len() }, none[ptrace.Traces], fromsentry.AdoptTraces}
	otlpLogs = otlp[plog.Logs]{otlpsize.Logs, 1, new(plog.ProtoUnmarshaler).UnmarshalLogs, new(plog.JSONUnmarshaler).UnmarshalLogs,
		func(m plog.Logs) int { return m.ResourceLogs().Len() }, none[plog.Logs], fromsentry.AdoptLogs}
	otlpMetrics = otlp[pmetric.Metrics]{otlpsize.Metrics, 1, new(pmetric.ProtoUnmarshaler).UnmarshalMetrics, new(pmetric.JSONUnmarshaler).UnmarshalMetrics,
		func(m pmetric.Metrics) int { return m.ResourceMetrics().Len() }, none[pmetric.Metrics], fromsentry.AdoptMetrics}
	otlpProfiles = otlp[pprofile.Profiles]{otlpsize.Profiles, 2, new(pprofile.ProtoUnmarshaler).UnmarshalProfiles, new(pprofile.JSONUnmarshaler).UnmarshalProfiles,
		func(m pprofile.Profiles) int { return m.ResourceProfiles().Len() }, sharedTexts, fromsentry.AdoptProfiles}
)

func none[M any](M) int64 { return 0 }

// sharedTexts returns the bytes of the texts of resources and scopes. Any number of them may refer
// to one text of the dictionary, and personal data and secrets are removed from each.
func sharedTexts(m pprofile.Profiles) (bytes int64) {
	for _, resource := range m.ResourceProfiles().All() {
		bytes += textsOf(resource.Resource().Attributes())
		for _, scope := range resource.ScopeProfiles().All() {
			bytes += textsOf(scope.Scope().Attributes())
		}
	}
	return bytes
}

func textsOf(attributes pcommon.Map) (bytes int64) {
	for key, value := range attributes.All() {
		bytes += int64(len(key)) + textsOfValue(value)
	}
	return bytes
}

func textsOfValue(value pcommon.Value) (bytes int64) {
	switch value.Type() {
	case pcommon.ValueTypeStr:
		bytes = int64(len(value.Str()))
	case pcommon.ValueTypeMap:
		bytes = textsOf(value.Map())
	case pcommon.ValueTypeSlice:
		for _, element := range value.Slice().All() {
			bytes += textsOfValue(element)
		}
	}
	return bytes
}

func adoptTraces(t *Translation, item *sentry.Item) Result {
	return adopted(t, item, &otlpTraces, func(traces ptrace.Traces) []Delivery { return spansDelivery(t, traces, false) })
}

func adoptLogs(t *Translation, item *sentry.Item) Result {
	return adopted(t, item, &otlpLogs, func(logs plog.Logs) []Delivery { return one(pipeline.Logs(logs)) })
}

func adoptMetrics(t *Translation, item *sentry.Item) Result {
	return adopted(t, item, &otlpMetrics, func(metrics pmetric.Metrics) []Delivery { return one(pipeline.Metrics(metrics)) })
}

func adoptProfiles(t *Translation, item *sentry.Item) Result {
	return adopted(t, item, &otlpProfiles, func(profiles pprofile.Profiles) []Delivery {
		deliveries := one(pipeline.Profiles(profiles))
		deliveries[0].LinkKey = t.linkKeys.ofProfiles(profiles)
		return deliveries
	})
}

// adopted decodes an OTLP message and assigns its data to the project. A message without data is
// ignored.
func adopted[M any](t *Translation, item *sentry.Item, o *otlp[M], deliver func(M) []Delivery) Result {
	message, why := o.decode(t, item)
	if why == nil {
		why = t.reserve(int64(o.resources(message))*t.source.AdoptedWeight() + o.copies*o.shared(message))
	}
	if why != nil {
		return Result{Unusable: why}
	}
	o.adopt(message, t.source)
	if o.resources(message) == 0 {
		return Result{}
	}
	return Result{Deliveries: deliver(message)}
}

// decode decodes an item once the memory is claimed. Details of the decoder's errors could quote
// the payload.
func (o *otlp[M]) decode(t *Translation, item *sentry.Item) (message M, why *discard.Error) {
	estimate, decode := o.size.Estimate, o.proto
	encoding := strings.ToLower(item.Header.ContentType)
	if encoding == sentry.ContentTypeJSON {
		estimate, decode = otlpsize.EstimateJSON, o.json
	}
	memory, err := estimate(item.Payload, otlpsize.Max)
	if err == nil && encoding != sentry.ContentTypeJSON && !t.settings.IncludePII { // personal data is also found in JSON texts
		memory += otlpsize.EstimateTexts(item.Payload)
	}
	switch {
	case err == otlpsize.ErrDamaged:
		return message, invalidOTLP(item)
	case err != nil:
		return message, discard.Errorf(discard.ReasonTooMuchMemory, "%s", err)
	case memory > otlpsize.Max:
		return message, discard.Errorf(discard.ReasonTooMuchMemory, "the message needs more than %d MiB of memory", otlpsize.Max>>20)
	}
	if why := t.reserve(o.copies * int64(memory)); why != nil {
		return message, why
	}
	if message, err = decode(item.Payload); err != nil {
		return message, invalidOTLP(item)
	}
	return message, nil
}

// invalidOTLP returns the error of an item that cannot be decoded.
func invalidOTLP(item *sentry.Item) *discard.Error {
	return discard.Errorf(ReasonInvalidOTLP, "the %d bytes are no %s", len(item.Payload), item.Header.Type)
}
