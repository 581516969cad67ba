// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
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
	for resource := range wire.Within(request, 1) {
		for scope := range wire.Within(resource, 2) {
			for profile := range wire.Within(scope, 2) {
				for sample := range wire.Within(profile, 2) {
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
	for f := range wire.Fields(message) {
		if number, ok := n[f.Number]; ok && f.Raw[0] < 0x80 { // a longer tag is valid, but no encoder writes it
			f.Raw[0] = byte(protowire.EncodeTag(number, f.Kind))
		}
	}
}
