// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/catalog"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/mcptools"
)

// routes returns the handler for the page and its API. All requests are GET requests, except those
// that change the content of the store and those of MCP clients.
func (v *viewer) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(path string, answer func(*http.Request) (any, error)) {
		mux.HandleFunc("GET /api/"+path, func(w http.ResponseWriter, r *http.Request) { v.respond(w, r, answer) })
	}
	list := func(path string, answer func(*http.Request) (any, error)) { handle(path, v.unlessUnchanged(answer)) }
	list("overview", v.overview)
	list("profiles", v.page(catalog.ProfileColumns, func(c *catalog.Catalog, q listing.Query) any { return c.Profiles(q) }))
	list("traces", v.page(catalog.TraceColumns, func(c *catalog.Catalog, q listing.Query) any { return c.Traces(q) }))
	list("services", v.page(catalog.ServiceColumns, func(c *catalog.Catalog, q listing.Query) any { return c.Services(q) }))
	handle("profiles/{profile}", v.profileDetail)
	handle("flame", v.flameGraph)
	handle("ordered", v.orderedGraph)
	handle("frame", v.frameDetail)
	handle("stacks", v.stackList)
	handle("compare", v.compare)
	handle("traces/{trace}", v.traceDetail)
	list("traces/{trace}/rows", v.traceRows)
	handle("traces/{trace}/spans/{span}", v.spanDetail)
	list("logs", v.logList)
	list("errors", v.errorList)
	handle("errors/{group}", v.errorDetail)
	list("metrics", v.metricList)
	list("service", v.serviceDetail)
	list("operations", v.operationList)
	handle("notices", v.noticeList)
	handle("download/{format}", v.download)
	mux.Handle("GET /api/changes", v.changes())
	tools := mcptools.NewHandler(mux, v.version, v.unread.add)
	mux.Handle("GET /mcp", tools) // 405
	mux.Handle("POST /mcp", tools)
	mux.HandleFunc("POST /api/import", v.importFile)
	mux.HandleFunc("POST /api/clear", func(w http.ResponseWriter, r *http.Request) { v.respond(w, r, v.clear) })
	mux.Handle("GET /", page())
	return guarded(mux, append(v.cfg.AllowedHosts, v.cfg.HTTP.NetAddr.Endpoint))
}
