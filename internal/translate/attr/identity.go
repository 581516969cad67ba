// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// Identity describes the origin of an item. The resources of all signals are derived only from it,
// so that a profile and its spans belong to the same service.
type Identity struct {
	Platform, Release, Dist, Environment string
	Sdk                                  sentry.ClientSDK
	Machine                              *profile.Profile // the V1 profile that describes the machine; nil = unknown, as for V2 chunks
}

// Clipped returns the identity with clipped texts, because each item repeats them.
func (id Identity) Clipped() Identity {
	for _, name := range []*string{&id.Platform, &id.Release, &id.Dist, &id.Environment, &id.Sdk.Name, &id.Sdk.Version} {
		*name = Clip(*name, MaxNameBytes)
	}
	return id
}
