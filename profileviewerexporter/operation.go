// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/url"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/operations"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// operationLinks has the spans that belong to an operation, or are below one of its spans, in the
// selected profiles.
type operationLinks struct {
	store      *store.Store
	name, kind string // all kinds if empty
	links      map[timeline.Link]bool
	visited    int
	version    uint64 // of the stored spans
}

// operationOf returns the operation that a query selects, or nil.
func (v *viewer) operationOf(query url.Values) *operationLinks {
	if !query.Has("operation") {
		return nil
	}
	return &operationLinks{
		store: v.store, name: query.Get("operation"), kind: query.Get("kind"), links: map[timeline.Link]bool{}, version: v.store.Versions()[store.Traces],
	}
}

// has reports whether a profile has samples of the operation, or whether there is no operation. It
// adds their spans. Beyond a number of spans, it finds none.
func (o *operationLinks) has(p *store.Profile) bool {
	if o == nil {
		return true
	}
	if o.visited+len(p.Spans) > store.MaxVisitedLinks {
		return false
	}
	links := o.store.OperationLinks(p, func(n operations.Name) bool { return n.Name == o.name && (o.kind == "" || n.Kind.String() == o.kind) }, &o.visited)
	for _, link := range links {
		o.links[link] = true
	}
	return len(links) > 0
}
