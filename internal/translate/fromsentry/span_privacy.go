// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// removePersonalFromSpans removes personal data from spans and links, unless src.IncludePII is set.
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
