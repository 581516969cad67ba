// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/records"
)

// logList lists log records, perhaps those of an operation; see [records.Query].
func (v *viewer) logList(r *http.Request) (any, error) {
	query, err := records.Parse(r.URL.Query())
	if err != nil {
		return nil, badRequest("%v", err)
	}
	of := v.operationOf(r.URL.Query())
	query.Spans = of.hasSpan
	out, err := records.List(v.store.Messages(), query)
	out.Unread += of.missed()
	return out, err
}
