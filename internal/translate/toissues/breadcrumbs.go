// SPDX-License-Identifier: Apache-2.0

package toissues

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	sentryevent "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
)

// breadcrumbs returns the last span events of the trace before the exception, oldest first.
func (e *exporter) breadcrumbs(r *record) []sentryevent.Breadcrumb {
	if r.service.crumbs == nil {
		r.service.crumbs = r.service.allCrumbs()
	}
	all := r.service.crumbs[r.traceID]
	end, _ := slices.BinarySearchFunc(all, r.at, func(c crumb, at pcommon.Timestamp) int { return cmp.Compare(c.at, at) })
	all = all[max(0, end-maxCrumbs):end]
	size := 0
	for i := range all {
		size += all[i].size
	}
	if len(all) == 0 || !e.spend(size, "breadcrumbs") {
		return nil
	}
	crumbs := make([]sentryevent.Breadcrumb, len(all))
	for i, c := range all {
		crumbs[i] = c.Breadcrumb
	}
	return crumbs
}

// crumb is a breadcrumb with its time and size.
type crumb struct {
	sentryevent.Breadcrumb
	at   pcommon.Timestamp
	size int
}

func newCrumb(at pcommon.Timestamp, category, message string) crumb {
	return crumb{
		Breadcrumb: sentryevent.Breadcrumb{Timestamp: attr.TimeOf(at), Type: "default", Category: category, Message: message},
		at:         at, size: len(category) + len(message) + len(`{"timestamp":1700000000.000000000,"type":"default","category":"","message":""},`),
	}
}

// allCrumbs returns the events of all spans by trace and in order of time, without their
// attributes.
func (s *service) allCrumbs() map[pcommon.TraceID][]crumb {
	crumbs := map[pcommon.TraceID][]crumb{}
	for _, span := range s.spans {
		for _, event := range span.Events().All() {
			c := newCrumb(event.Timestamp(), attr.Clip(event.Name(), maxTagValue), "")
			if x := exception.Read(event.Attributes()); x.Headline() != "" {
				c.Type, c.Level = "error", "error"
				c.Message = attr.Clip(attr.FirstText(x.Message, x.Type), maxExtra)
			}
			c.size += len(c.Message) + len(`"level":"error",`)
			crumbs[span.TraceID()] = append(crumbs[span.TraceID()], c)
		}
	}
	s.logCrumbs(crumbs)
	for _, all := range crumbs {
		slices.SortStableFunc(all, func(a, b crumb) int { return cmp.Compare(a.at, b.at) })
	}
	return crumbs
}

// logCrumbs adds the log records to the breadcrumbs of their traces, except those with an
// exception, which are events.
func (s *service) logCrumbs(crumbs map[pcommon.TraceID][]crumb) {
	for _, log := range s.logs {
		if log.TraceID().IsEmpty() || exception.IsException(log.Attributes()) {
			continue
		}
		crumbs[log.TraceID()] = append(crumbs[log.TraceID()], newCrumb(timeOf(log), "log", attr.Clip(log.Body().AsString(), maxExtra)))
	}
}
