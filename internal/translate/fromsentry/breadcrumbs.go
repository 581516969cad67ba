// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// putBreadcrumbs sets the breadcrumbs of an event or a transaction as a list of maps with Sentry's
// own keys.
func putBreadcrumbs(attrs pcommon.Map, crumbs []event.Breadcrumb, src Source) {
	if len(crumbs) == 0 {
		return
	}
	list := attrs.PutEmptySlice(semconv.SentryBreadcrumbs)
	for i := range crumbs {
		b, m := &crumbs[i], list.AppendEmpty().SetEmptyMap()
		if b.Timestamp.Set {
			m.PutInt("time_unix_nano", int64(src.unixNano(b.Timestamp)))
		}
		attr.PutMembers(m, event.Breadcrumbs, b)
	}
}
