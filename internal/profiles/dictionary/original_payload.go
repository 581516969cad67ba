// SPDX-License-Identifier: Apache-2.0

package dictionary

import "go.opentelemetry.io/collector/pdata/pprofile"

// SetOriginalPayload stores the data that a profile was made from. An empty format removes it.
//
// The next incompatible version of the protocol moves these fields (opentelemetry-proto#786): only
// this file uses them.
func SetOriginalPayload(profile pprofile.Profile, format string, payload []byte) {
	profile.SetOriginalPayloadFormat(format)
	profile.OriginalPayload().FromRaw(payload)
}

// OriginalPayload returns the data that a profile was made from, if it has this format.
func OriginalPayload(profile pprofile.Profile, format string) []byte {
	if profile.OriginalPayloadFormat() != format {
		return nil
	}
	return profile.OriginalPayload().AsRaw()
}

// ClearOriginalPayload removes the data that a profile was made from: it differs from a changed
// profile.
func ClearOriginalPayload(profile pprofile.Profile) { SetOriginalPayload(profile, "", nil) }
