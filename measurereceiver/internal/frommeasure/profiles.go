// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"github.com/google/uuid"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// MethodTraceToProfiles translates a method trace that is attached to an event. attributes are
// those of the event, nil if they are unknown. The ID of the attachment becomes that of the
// profile.
//
// The trace starts at the time in its header if that is Unix time, else at the time of its event,
// else it ends at the time of receipt.
func MethodTraceToProfiles(trace *fromandroid.Trace, f File, attributes *measure.Attributes, src Source) pprofile.Profiles {
	out := pprofile.NewProfiles()
	if attributes == nil {
		attributes = &measure.Attributes{}
	}
	b := dictionary.NewBuilder(out.Dictionary())
	defer b.Release()
	resource := out.ResourceProfiles().AppendEmpty()
	resource.SetSchemaUrl(semconv.SchemaURL)
	resourceOf(attributes).fill(resource.Resource().Attributes(), src)
	scope := resource.ScopeProfiles().AppendEmpty()
	scope.SetSchemaUrl(semconv.SchemaURL)
	scope.Scope().SetName(scopeName)

	profile := scope.Profiles().AppendEmpty()
	if id, err := uuid.Parse(f.ID); err == nil {
		profile.SetProfileID(pprofile.ProfileID(id))
	}
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	dictionary.SetValueType(profile.PeriodType(), b.String(trace.PeriodType("wall")), b.String("nanoseconds"))
	indices := trace.AddTo(profile, b, traceStart(trace, f, src))
	indices = append(indices, trace.ActiveThread(b)...)
	if id := f.EventID.String(); id != "" {
		indices = append(indices, b.AttrString(semconv.MeasureEventID, id))
	}
	if id := f.SessionID.String(); id != "" {
		indices = append(indices, b.AttrString(semconv.SessionID, id))
	}
	dictionary.SetAttributes(profile.AttributeIndices(), indices...)
	b.Finish()
	return out
}

func traceStart(trace *fromandroid.Trace, f File, src Source) uint64 {
	switch {
	case trace.Start > 0:
		return trace.Start
	case f.EventNano > 0:
		return f.EventNano
	}
	return src.ReceivedNano - min(uint64(trace.First+trace.Duration), src.ReceivedNano)
}
