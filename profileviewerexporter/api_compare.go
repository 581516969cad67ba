// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// compareAnswer is a graph of two selections; see [flame.Comparison]. Weights are sums of both.
type compareAnswer struct {
	graphAnswer
	Before         int64        `json:"before"`
	After          int64        `json:"after"`
	BeforeSamples  int64        `json:"before_samples"`
	AfterSamples   int64        `json:"after_samples"`
	BeforeProfiles int          `json:"before_profiles"` // number of profiles
	AfterProfiles  int          `json:"after_profiles"`
	Changes        []changeLine `json:"changes,omitempty"` // largest change in self weight first; changes that chance explains are last
}

// changeLine is a function of a comparison. Weights of the first selection are scaled to the total
// of the second.
type changeLine struct {
	frameAnswer
	BeforeSelf         int64 `json:"before_self"`
	BeforeTotal        int64 `json:"before_total"`
	AfterSelf          int64 `json:"after_self"`
	AfterTotal         int64 `json:"after_total"`
	BeforeSelfSamples  int64 `json:"before_self_samples"` // number of samples
	BeforeTotalSamples int64 `json:"before_total_samples"`
	AfterSelfSamples   int64 `json:"after_self_samples"`
	AfterTotalSamples  int64 `json:"after_total_samples"`
	SelfChance         bool  `json:"self_chance,omitempty"`  // true if chance explains the difference of the self weights
	TotalChance        bool  `json:"total_chance,omitempty"` // true if chance explains the difference of the total weights
}

// compare returns the graph of two sides, a and b; see [sidesOf]. With grown=1, it lists only the
// functions whose self weight is larger in b.
func (v *viewer) compare(r *http.Request) (any, error) {
	query := r.URL.Query()
	first, second, err := sidesOf(query)
	if err != nil {
		return nil, err
	}
	before, err := v.selectionOf(first)
	if err != nil {
		return nil, err
	}
	after, err := v.selectionOf(second)
	if err != nil {
		return nil, err
	}
	if before.key() == after.key() {
		return nil, badRequest("a, b: must differ")
	}
	if first, second := before.profiles[0].Measure, after.profiles[0].Measure; first != second {
		return nil, badRequest("a, b: cannot compare profiles that measure %s and %s", answer.Display(first.Type), answer.Display(second.Type))
	}
	window, err := parseWindow(query)
	if err != nil {
		return nil, err
	}
	both, err := cached(&v.graphs, "compared "+before.key()+" with "+after.key(), func() (*flame.Comparison, error) {
		first, err := flame.New(before.each)
		if err != nil {
			return nil, err
		}
		second, err := flame.New(after.each)
		if err != nil {
			return nil, err
		}
		return flame.Compare(first, second), nil
	})
	if err != nil {
		return nil, err
	}
	window.Match = matching(both.Graph, query.Get("q"))
	out := compareAnswer{
		Before: both.Before, After: both.After, BeforeSamples: both.BeforeSamples, AfterSamples: both.AfterSamples,
		BeforeProfiles: len(before.profiles), AfterProfiles: len(after.profiles),
	}
	shown := selection{profiles: append(append([]*store.Profile{}, before.profiles...), after.profiles...), origin: min(before.origin, after.origin)}
	out.describe(&shown, both.Graph, both.Draw(window))
	if partial(query) {
		return out, nil
	}
	changes := both.Changes
	if query.Get("grown") == "1" {
		changes = slices.DeleteFunc(slices.Clone(changes), func(c flame.FrameChange) bool { return c.SelfChance || c.After.Self <= c.Before.Self })
	}
	changes = changes[:min(maxTop, len(changes))]
	for _, c := range changes {
		texts := answer.PerEntry(maxDrawingTexts/8, len(changes), &out.Omissions)
		out.Changes = append(out.Changes, changeLine{
			frameAnswer: describeFrame(both.Graph, c.Frame, &texts),
			BeforeSelf:  c.Before.Self, BeforeTotal: c.Before.Total, AfterSelf: c.After.Self, AfterTotal: c.After.Total,
			BeforeSelfSamples: c.Before.SelfSamples, BeforeTotalSamples: c.Before.Samples,
			AfterSelfSamples: c.After.SelfSamples, AfterTotalSamples: c.After.Samples,
			SelfChance: c.SelfChance, TotalChance: c.TotalChance,
		})
	}
	return out, nil
}

// sideKeys are the keys of a selection that apply to both sides of a comparison or, after a_ or b_,
// to one.
var sideKeys = []string{"service", "release", "since", "operation", "kind", "thread", "active", "linked", "collapse", "raw"}

// sidesOf returns the selections of the two sides of a comparison. a and b are profiles or, if the
// sides have a service, windows of time; see [selection]. The keys of a selection may be different:
//
//	service=shop&a_release=1&b_release=2
//	service=shop&a_operation=GET+%2F&b_operation=GET+%2Fcart
//
// A side without a release does not have that of the other side: its samples would be on both.
func sidesOf(query url.Values) (a, b url.Values, err error) {
	if a, err = sideOf(query, "a"); err == nil {
		b, err = sideOf(query, "b")
	}
	if err == nil && a.Get("service") == b.Get("service") {
		exclude(a, b)
		exclude(b, a)
	}
	return a, b, err
}

func exclude(side, other url.Values) {
	if other.Has("release") && !side.Has("release") && !side.Has("since") {
		side["without"] = other["release"]
	}
}

func sideOf(query url.Values, name string) (url.Values, error) {
	side := url.Values{}
	for _, key := range sideKeys {
		if own := name + "_" + key; query.Has(own) {
			side[key] = query[own]
		} else if query.Has(key) {
			side[key] = query[key]
		}
	}
	switch {
	case !side.Has("service") && !query.Has(name):
		return nil, badRequest("%s: is missing; set a and b to profiles, or service, and a and b to windows", name)
	case !side.Has("service"):
		side["profile"] = query[name]
	case query.Has(name):
		side["window"] = query[name]
	}
	return side, nil
}
