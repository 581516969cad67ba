// SPDX-License-Identifier: Apache-2.0

// Package payload stores the data from which a profile was created.
//
// Only this package uses these fields, because the next incompatible version of the protocol moves
// them (opentelemetry-proto#786).
package payload

import "go.opentelemetry.io/collector/pdata/pprofile"

// Set stores the data from which a profile was created. An empty format removes it.
func Set(profile pprofile.Profile, format string, payload []byte) {
	profile.SetOriginalPayloadFormat(format)
	profile.OriginalPayload().FromRaw(payload)
}

// Of returns the data from which a profile was created, if it has the given format.
func Of(profile pprofile.Profile, format string) []byte {
	if profile.OriginalPayloadFormat() != format {
		return nil
	}
	return profile.OriginalPayload().AsRaw()
}

// Clear removes the original payload, which no longer matches a changed profile.
func Clear(profile pprofile.Profile) { Set(profile, "", nil) }
