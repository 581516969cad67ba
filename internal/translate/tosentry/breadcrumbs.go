// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	sentryevent "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// maxCrumbs is the default limit of breadcrumbs in SDKs (max_breadcrumbs).
const maxCrumbs = 100

// crumbs collects the span events of a transaction. Sentry's spans have no events; a breadcrumb is
// the closest equivalent.
type crumbs struct {
	t   *sentryevent.Transaction
	all []sentryevent.Breadcrumb
}

func newCrumbs(t *sentryevent.Transaction) *crumbs { return &crumbs{t: t} }

func (c *crumbs) add(s *tracedSpan) {
	for _, event := range s.Events().All() {
		crumb := sentryevent.Breadcrumb{
			Timestamp: jsonscan.Timestamp{UnixNano: uint64(event.Timestamp()), Set: event.Timestamp() != 0 && event.Timestamp() < jsonscan.MaxUnixNano},
			Type:      "default", Category: event.Name(),
		}
		data := pcommon.NewValueMap()
		event.Attributes().CopyTo(data.Map())
		exception := attr.FirstText(attr.TextOf(data.Map(), semconv.ExceptionType), attr.TextOf(data.Map(), semconv.ExceptionMessage))
		if exception != "" {
			crumb.Type, crumb.Level, crumb.Message = "error", "error", exceptionText(data.Map())
		}
		data.Map().PutStr("span_id", attr.SpanText(s.SpanID()))
		crumb.Data = attr.JsonOf(data)
		c.all = append(c.all, crumb)
	}
}

func exceptionText(attrs pcommon.Map) string {
	kind, message := attr.TextOf(attrs, semconv.ExceptionType), attr.TextOf(attrs, semconv.ExceptionMessage)
	if kind == "" || message == "" {
		return kind + message
	}
	return kind + ": " + message
}

// settle appends the last maxCrumbs events, sorted by time, to the breadcrumbs of the transaction.
// It returns the number of dropped events.
func (c *crumbs) settle() (tooMany int) {
	slices.SortStableFunc(c.all, func(a, b sentryevent.Breadcrumb) int { return cmp.Compare(a.Timestamp.UnixNano, b.Timestamp.UnixNano) })
	tooMany = max(len(c.all)-maxCrumbs, 0)
	c.t.Breadcrumbs = append(c.t.Breadcrumbs, c.all[tooMany:]...)
	return tooMany
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
