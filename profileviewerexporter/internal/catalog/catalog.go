// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// Catalog is the content of a store at one time, the newest first.
type Catalog struct {
	store    *store.Store
	messages []*store.Message
	profiles []*store.Profile
	traces   []trace
	lists    int // in a response
}

// Of returns the content of a store, for responses with a number of lists.
func Of(s *store.Store, lists int) *Catalog {
	profiles, fragments, _ := s.All()
	c := &Catalog{store: s, messages: s.Messages(), profiles: profiles, lists: lists}
	for _, list := range fragments {
		if t := (trace{store.Combine(list), list}); t.Spans > 0 { // others are log records only
			c.traces = append(c.traces, t)
		}
	}
	return c
}

// texts returns the budget of an entry.
func (c *Catalog) texts(omissions *answer.Omissions) *answer.Budget {
	texts := answer.PerEntry(answer.MaxTexts, c.lists*listing.PageSize, omissions)
	return &texts
}
