// SPDX-License-Identifier: Apache-2.0

// Package releases describes the profiles of a service by release.
package releases

import (
	"cmp"
	"maps"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// maxReleases is the maximum number of releases in a response: the latest are listed.
const maxReleases = 200

// Answer lists the values by which the profiles of a service can be selected.
type Answer struct {
	answer.Omissions
	Profiles int             `json:"profiles"`
	First    string          `json:"first"` // start of the earliest profile
	Last     string          `json:"last"`  // end of the latest profile
	Releases []ReleaseAnswer `json:"releases"`
}

// ReleaseAnswer is a release, or a version, of a service.
type ReleaseAnswer struct {
	Name     string `json:"name"`
	Profiles int    `json:"profiles"`
	First    string `json:"first"`
	Last     string `json:"last"`
}

// use summarizes the profiles of a release.
type use struct {
	profiles    int
	first, last uint64
}

func (u use) plus(p *store.Profile) use {
	if u.profiles == 0 {
		u.first = p.Start
	}
	return use{u.profiles + 1, min(u.first, p.Start), max(u.last, p.End)}
}

// Describe returns the releases of a service, the latest first.
func Describe(profiles []*store.Profile, service string) Answer {
	out, uses, all := Answer{Releases: []ReleaseAnswer{}}, map[string]use{}, use{}
	for _, p := range profiles {
		if p.Service == service {
			all, uses[p.Release] = all.plus(p), uses[p.Release].plus(p)
		}
	}
	out.Profiles, out.First, out.Last = all.profiles, answer.Nanos(all.first), answer.Nanos(all.last)
	names := slices.SortedFunc(maps.Keys(uses), func(a, b string) int {
		return cmp.Or(cmp.Compare(uses[b].last, uses[a].last), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), maxReleases)] {
		texts, release := answer.PerEntry(answer.MaxTexts, maxReleases, &out.Omissions), uses[name]
		out.Releases = append(out.Releases, ReleaseAnswer{texts.Text(name), release.profiles, answer.Nanos(release.first), answer.Nanos(release.last)})
	}
	return out
}
