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
	store               *store.Store
	service, name, kind string // all kinds if empty
	links               map[timeline.Link]bool
	visited             int
	unread              int    // errors or records that are not looked up because a limit was reached
	version             uint64 // of the stored spans
}

// operationOf returns the operation that a query selects, or nil.
func (v *viewer) operationOf(query url.Values) *operationLinks {
	if !query.Has("operation") {
		return nil
	}
	return &operationLinks{
		store: v.store, service: query.Get("service"), name: query.Get("operation"), kind: query.Get("kind"), links: map[timeline.Link]bool{},
		version: v.store.Versions()[store.Traces],
	}
}

// missed returns the number of errors or records that were not looked up.
func (o *operationLinks) missed() int {
	if o == nil {
		return 0
	}
	return o.unread
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
	links := o.store.OperationLinks(p, o.wants, &o.visited)
	for _, link := range links {
		o.links[link] = true
	}
	return len(links) > 0
}

func (o *operationLinks) wants(n operations.Name) bool {
	return o == nil || n.Name == o.name && (o.kind == "" || n.Kind.String() == o.kind)
}

// hasSpan reports whether a span of a service belongs to the operation, or whether there is no
// operation. Beyond a number of spans, it finds none, and counts them.
func (o *operationLinks) hasSpan(service string, span operations.Key) bool {
	switch {
	case o == nil:
		return true
	case service != o.service:
		return false
	case o.visited > store.MaxVisitedLinks:
		o.unread++
		return false
	}
	found := false
	o.visited += o.store.Above(service, span, func(name operations.Name) { found = found || o.wants(name) })
	return found
}
