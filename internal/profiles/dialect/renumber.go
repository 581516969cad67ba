// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// numbering maps the field numbers of a message to new ones. Other numbers stay the same.
type numbering map[protowire.Number]protowire.Number

// ignored is a number that no field of a profile uses, so decoders skip such fields.
const ignored = 15

var (
	samplesOf1_9  = numbering{2: 4, 3: 2, 4: 3}
	samplesTo1_9  = numbering{4: 2, 2: 3, 3: 4}
	profilesOf1_8 = numbering{7: ignored, 8: 7, 9: 8, 10: 9, 11: 10, 12: 11}
)

// renumbered returns a copy of a request with new field numbers in profiles and samples. All
// numbers are below 16, so tags have one byte and lengths do not change.
func renumbered(request []byte, profiles, samples numbering) []byte {
	request = bytes.Clone(request)
	for resource := range within(request, 1) {
		for scope := range within(resource, 2) {
			for profile := range within(scope, 2) {
				for sample := range within(profile, 2) {
					samples.apply(sample)
				}
				profiles.apply(profile)
			}
		}
	}
	return request
}

// apply changes the tags of a message in place.
func (n numbering) apply(message []byte) {
	if len(n) == 0 {
		return
	}
	for f := range fields(message) {
		if number, ok := n[f.number]; ok && message[f.tag] < 0x80 { // a longer tag is valid, but no encoder writes it
			message[f.tag] = byte(protowire.EncodeTag(number, f.kind))
		}
	}
}
