// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// SpanProfiling is what a span itself states, in its data as python and java do, or beside them as cocoa does.
func SpanProfiling(s *event.Span) (p attr.Profiling) {
	for _, member := range s.Data {
		p.Set(member.Name, member.Value)
	}
	p.Profiler = attr.FirstText(s.ProfilerID, p.Profiler)
	p.Profile = attr.FirstText(s.ProfileID, p.Profile)
	return p
}

// TransactionProfiling is what a transaction states for all of its spans: in the data of contexts.trace, else in
// contexts.profile. The transaction hardly ever names the V1 profile that travels with it; the envelope does.
func TransactionProfiling(t *event.Transaction, src Source) (p attr.Profiling) {
	if t.Root != nil {
		p = SpanProfiling(t.Root)
		p.Thread, p.Name = attr.Clip(p.Thread, attr.MaxIDBytes), attr.Clip(p.Name, attr.MaxNameBytes)
	}
	return p.Or(attr.Profiling{Profiler: t.ProfilerID, Profile: attr.FirstText(t.ProfileID, src.ProfileID)})
}
