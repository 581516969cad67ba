// SPDX-License-Identifier: Apache-2.0

package dictionary

import "go.opentelemetry.io/collector/pdata/pprofile"

// SetOriginalPayload stores the data from which a profile was created. An empty format removes it.
//
// Only this file uses these fields, because the next incompatible version of the protocol moves
// them (opentelemetry-proto#786).
func SetOriginalPayload(profile pprofile.Profile, format string, payload []byte) {
	profile.SetOriginalPayloadFormat(format)
	profile.OriginalPayload().FromRaw(payload)
}

// OriginalPayload returns the data from which a profile was created, if it has the given format.
func OriginalPayload(profile pprofile.Profile, format string) []byte {
	if profile.OriginalPayloadFormat() != format {
		return nil
	}
	return profile.OriginalPayload().AsRaw()
}

// ClearOriginalPayload removes the original payload, which no longer matches a changed profile.
func ClearOriginalPayload(profile pprofile.Profile) { SetOriginalPayload(profile, "", nil) }
