// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/catalog"
)

// serviceDetail describes the profiles of the service in the query.
func (v *viewer) serviceDetail(r *http.Request) (any, error) {
	profiles, _, _ := v.store.All()
	return catalog.Releases(profiles, r.URL.Query().Get("service")), nil
}
