// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// SpanProfiling returns the profiling IDs of a span. Python and Java state them in its data, Cocoa
// in fields of the span.
func SpanProfiling(s *event.Span) (p attr.Profiling) {
	for _, member := range s.Data {
		p.Set(member.Name, member.Value)
	}
	p.Profiler = attr.FirstText(s.ProfilerID, p.Profiler)
	p.Profile = attr.FirstText(s.ProfileID, p.Profile)
	return p
}

// TransactionProfiling returns the profiling IDs for all spans of a transaction, from the data of
// contexts.trace or from contexts.profile. The ID of the V1 profile in the same envelope comes from
// src, because transactions rarely state it.
func TransactionProfiling(t *event.Transaction, src Source) (p attr.Profiling) {
	if t.Root != nil {
		p = SpanProfiling(t.Root)
		p.Thread, p.Name = attr.Clip(p.Thread, attr.MaxIDBytes), attr.Clip(p.Name, attr.MaxNameBytes)
	}
	return p.Or(attr.Profiling{Profiler: t.ProfilerID, Profile: attr.FirstText(t.ProfileID, src.ProfileID)})
}
