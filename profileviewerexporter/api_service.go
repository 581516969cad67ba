// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/catalog"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
)

// serviceDetail describes the profiles of the service in the query.
func (v *viewer) serviceDetail(r *http.Request) (any, error) {
	profiles, _, _ := v.store.All()
	return catalog.Releases(profiles, r.URL.Query().Get("service")), nil
}

// operationList describes the operations of the service in the query, or one of them.
func (v *viewer) operationList(r *http.Request) (any, error) {
	query, err := listing.Parse(r.URL.Query(), catalog.OperationColumns...)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	if query.Service == "" {
		return nil, badRequest("service: is missing; operations are those of a service")
	}
	return catalog.Operations(v.store, query, v.operationOf(r.URL.Query()).wants), nil
}
