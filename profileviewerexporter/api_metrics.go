// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/series"
)

// metricList lists series of metrics; see [listing.Query].
func (v *viewer) metricList(r *http.Request) (any, error) {
	query, err := listing.Parse(r.URL.Query(), series.Columns...)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	return series.List(v.store.Messages(), query)
}
