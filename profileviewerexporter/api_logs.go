// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/records"
)

// logList lists log records; see [records.Query].
func (v *viewer) logList(r *http.Request) (any, error) {
	query, err := records.Parse(r.URL.Query())
	if err != nil {
		return nil, badRequest("%v", err)
	}
	return records.List(v.store.Messages(), query)
}
