// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// removePersonalFromSpans does it for whole spans, unless personal data are asked for.
func removePersonalFromSpans(spans ptrace.SpanSlice, src Source) {
	if src.IncludePII {
		return
	}
	for _, span := range spans.All() {
		attr.RemovePersonal(span.Attributes())
		for _, link := range span.Links().All() {
			attr.RemovePersonal(link.Attributes())
		}
	}
}
