// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	sentryevent "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// maxCrumbs is the default limit of breadcrumbs in SDKs (max_breadcrumbs).
const maxCrumbs = 100

// appendEvents appends the events of a span. Sentry's spans have no events; a breadcrumb of the
// transaction is the closest equivalent.
func appendEvents(all []sentryevent.Breadcrumb, s *tracedSpan) []sentryevent.Breadcrumb {
	for _, event := range s.Events().All() {
		crumb := sentryevent.Breadcrumb{
			Timestamp: jsonscan.Timestamp{UnixNano: uint64(event.Timestamp()), Set: event.Timestamp() != 0 && event.Timestamp() < jsonscan.MaxUnixNano},
			Type:      "default", Category: event.Name(),
		}
		data := pcommon.NewValueMap()
		event.Attributes().CopyTo(data.Map())
		if exception := attr.ExceptionOf(event.Attributes()); exception.Headline() != "" {
			crumb.Type, crumb.Level, crumb.Message = "error", "error", exception.Headline()
		}
		data.Map().PutStr("span_id", attr.SpanText(s.SpanID()))
		crumb.Data = attr.JsonOf(data)
		all = append(all, crumb)
	}
	return all
}

// lastCrumbs returns the last maxCrumbs breadcrumbs in order of time, and the number of the others.
func lastCrumbs(all []sentryevent.Breadcrumb) (last []sentryevent.Breadcrumb, dropped int) {
	slices.SortStableFunc(all, func(a, b sentryevent.Breadcrumb) int { return cmp.Compare(a.Timestamp.UnixNano, b.Timestamp.UnixNano) })
	dropped = max(len(all)-maxCrumbs, 0)
	return all[dropped:], dropped
}

// AppendCrumbs is the inverse of fromsentry.putBreadcrumbs.
func AppendCrumbs(all []sentryevent.Breadcrumb, list pcommon.Slice, scratch *attr.Scratch) []sentryevent.Breadcrumb {
	for _, entry := range list.All() {
		if entry.Type() != pcommon.ValueTypeMap {
			continue
		}
		m := entry.Map()
		all = append(all, sentryevent.Breadcrumb{})
		crumb := &all[len(all)-1]
		for name, value := range m.All() {
			attr.TakeMember(crumb, sentryevent.Breadcrumbs, name, value, scratch)
		}
		if at, ok := m.Get("time_unix_nano"); ok && at.Type() == pcommon.ValueTypeInt && at.Int() > 0 {
			crumb.Timestamp = jsonscan.Timestamp{UnixNano: uint64(at.Int()), Set: true}
		}
	}
	return all
}
