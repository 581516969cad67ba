// SPDX-License-Identifier: Apache-2.0

package store

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/operations"
)

// MaxVisitedLinks is the maximum number of spans with samples that are visited to find those of
// operations, about a tenth of a second's work. One that is deep in its trace counts as several.
const MaxVisitedLinks = 200_000

// usualDepth is the number of spans above a span that are visited with it.
const usualDepth = 15

// above visits the operations of a span, and returns the number of links that it counts as.
func (s *Store) above(service string, link timeline.Link, visit func(operations.Name)) (links int) {
	return 1 + s.spans.Above(service, operations.Key(link), visit)/(usualDepth+1)
}

// Above visits the operations that a span belongs to, or is below of, and returns the number of
// links that it counts as.
func (s *Store) Above(service string, span operations.Key, visit func(operations.Name)) (links int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.above(service, timeline.Link(span), visit)
}

// PlaceOf returns the place of a span in its service, and the number of links that it counts as.
func (s *Store) PlaceOf(service string, span operations.Key) (place operations.Place, links int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	place, spans := s.spans.PlaceOf(service, span)
	return place, 1 + spans/(usualDepth+1)
}

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
			if visited+len(p.Spans) > MaxVisitedLinks {
				return samples, false
			}
			for link, sum := range p.Spans {
				if visited += s.above(service, link, func(name operations.Name) { samples[name] += sum.Samples }); visited > MaxVisitedLinks {
					return samples, false
				}
			}
		}
	}
	return samples, true
}

// OperationLinks returns the spans of a profile that belong to an operation of its service, or are
// below one of its spans. It adds to the number of visited links, and ends at the maximum.
func (s *Store) OperationLinks(p *Profile, wanted func(operations.Name) bool, visited *int) (links []timeline.Link) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for link := range p.Spans {
		if *visited > MaxVisitedLinks {
			break
		}
		found := false
		*visited += s.above(p.Service, link, func(name operations.Name) { found = found || wanted(name) })
		if found {
			links = append(links, link)
		}
	}
	return links
}
