// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

func TestReleases(t *testing.T) {
	profiles := []*store.Profile{
		{Service: "shop", Release: "shop@2", Start: 50, End: 60}, {Service: "cart", Release: "shop@3", Start: 1, End: 99},
		{Service: "shop", Release: "shop@1", Start: 10, End: 20}, {Service: "shop", Release: "shop@2", Start: 30, End: 40},
	}
	assert.Equal(t, ReleasesAnswer{Profiles: 3, First: "10", Last: "60", Releases: []ReleaseAnswer{
		{"shop@2", 2, "30", "60"}, {"shop@1", 1, "10", "20"},
	}}, Releases(profiles, "shop"))
	assert.Empty(t, Releases(profiles, "other").Releases)
}
