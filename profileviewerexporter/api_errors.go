// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/exceptions"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/operations"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// errorList lists groups of equal errors, perhaps those of an operation; see [listing.Query].
func (v *viewer) errorList(r *http.Request) (any, error) {
	query, err := listing.Parse(r.URL.Query(), exceptions.Columns...)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	of := v.operationOf(r.URL.Query())
	groups := exceptions.Groups{}
	unread, err := exceptions.Each(v.store.Messages(), func(e *exceptions.Error) {
		if of.hasSpan(e.Service, operations.Key{Trace: e.Trace, Span: e.Span}) {
			groups.Add(e)
		}
	})
	if err != nil {
		return nil, err
	}
	return groups.List(query, unread+of.missed()), nil
}

// errorDetail describes a group and one of its errors: the one with the key of the query, or the
// latest.
func (v *viewer) errorDetail(r *http.Request) (any, error) {
	id := r.PathValue("group")
	detail := exceptions.NewDetail(r.URL.Query().Get("error"))
	_, err := exceptions.Each(v.store.Messages(), func(e *exceptions.Error) {
		if e.GroupID() == id {
			detail.Add(e)
		}
	})
	if err != nil {
		return nil, err
	}
	chosen := detail.Chosen()
	if chosen == nil {
		return nil, gone("error group " + answer.Display(id))
	}
	out := detail.Answer()
	out.Error.Samples = v.samplesAround(chosen)
	if profiles := v.store.LinkedProfiles(chosen.Trace); len(profiles) > 0 && !chosen.Trace.IsEmpty() {
		out.Error.Profile = answer.Nanos(profiles[len(profiles)-1].ID)
	}
	return out, nil
}

// around is how long before and after an error samples are of interest, in nanoseconds.
const around = 500e6

// samplesAround returns the samples at the time of an error: those of the profile with samples of
// its span, or else of a profile of its service.
func (v *viewer) samplesAround(e *exceptions.Error) (found *exceptions.SamplesAnswer) {
	profiles, _, _ := v.store.All()
	link := timeline.Link{Trace: e.Trace, Span: e.Span}
	for _, p := range profiles {
		if e.Time < p.Start || e.Time > p.End {
			continue
		}
		_, linked := p.Spans[link]
		if linked || found == nil && p.Service == e.Service {
			found = describeSamples(p, e)
		}
		if linked {
			break
		}
	}
	return found
}

func describeSamples(p *store.Profile, e *exceptions.Error) *exceptions.SamplesAnswer {
	at := e.Time - p.Start
	return &exceptions.SamplesAnswer{
		Profile: answer.Nanos(p.ID), Thread: e.Thread(), From: at - min(at, around), To: min(at+around, p.End-p.Start),
	}
}
