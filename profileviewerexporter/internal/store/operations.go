// SPDX-License-Identifier: Apache-2.0

package store

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/operations"
)

// MaxVisitedLinks is the maximum number of spans with samples that are visited to find those of
// operations, about a tenth of a second's work.
const MaxVisitedLinks = 200_000

// Operations returns the figures of the operations of a service, and the time that its spans cover.
// It visits no spans.
func (s *Store) Operations(service string) (figures []operations.Figures, start, end uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for e := s.messages.Oldest(); e != nil; e = e.Newer() {
		for _, c := range e.Value.coverage {
			if c.service != service {
				continue
			}
			if end == 0 || c.start < start {
				start = c.start
			}
			end = max(end, c.end)
		}
	}
	return s.spans.Of(service), start, end
}

// OperationSamples returns the samples of the operations of a service: those of their spans and of
// the spans below. It reads the newest profiles; all is false if some were not read.
func (s *Store) OperationSamples(service string) (samples map[operations.Name]int64, all bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	samples, visited := map[operations.Name]int64{}, 0
	for _, m := range s.newest() {
		for _, p := range m.Profiles {
			if p.Service != service || len(p.Spans) == 0 {
				continue
			}
			if visited += len(p.Spans); visited > MaxVisitedLinks {
				return samples, false
			}
			for link, sum := range p.Spans {
				s.spans.Above(service, operations.Key(link), func(name operations.Name) { samples[name] += sum.Samples })
			}
		}
	}
	return samples, true
}

// OperationLinks returns the spans of a profile that belong to an operation of its service, or are
// below one of its spans.
func (s *Store) OperationLinks(p *Profile, wanted func(operations.Name) bool) (links []timeline.Link) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for link := range p.Spans {
		found := false
		s.spans.Above(p.Service, operations.Key(link), func(name operations.Name) { found = found || wanted(name) })
		if found {
			links = append(links, link)
		}
	}
	return links
}
