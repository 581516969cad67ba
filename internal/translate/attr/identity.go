// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// Identity is what every kind of item says about its origin. The resource of all signals comes from these alone, so that a
// profile and its spans end up under the same service.
type Identity struct {
	Platform, Release, Dist, Environment string
	Sdk                                  sentry.ClientSDK
	Machine                              *profile.Profile // that says what it was taken on; a V2 chunk says nothing of it
}

// Clipped clips the texts that each item repeats.
func (id Identity) Clipped() Identity {
	for _, name := range []*string{&id.Platform, &id.Release, &id.Dist, &id.Environment, &id.Sdk.Name, &id.Sdk.Version} {
		*name = Clip(*name, MaxNameBytes)
	}
	return id
}
