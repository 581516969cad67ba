// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"maps"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// maxReleases is the maximum number of releases in a response: the latest are listed.
const maxReleases = 200

// ReleasesAnswer lists the values by which the profiles of a service can be selected.
type ReleasesAnswer struct {
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

// releaseUse summarizes the profiles of a release.
type releaseUse struct {
	profiles    int
	first, last uint64
}

func (u releaseUse) plus(p *store.Profile) releaseUse {
	if u.profiles == 0 {
		u.first = p.Start
	}
	return releaseUse{u.profiles + 1, min(u.first, p.Start), max(u.last, p.End)}
}

// Releases describes the profiles of a service by release, the latest first.
func Releases(profiles []*store.Profile, service string) ReleasesAnswer {
	out, uses, all := ReleasesAnswer{Releases: []ReleaseAnswer{}}, map[string]releaseUse{}, releaseUse{}
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
