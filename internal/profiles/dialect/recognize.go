// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
)

// Version is a version of OTLP that changed the encoding of profiles.
type Version string

// The versions that this package distinguishes. 1.10 and 1.11 are the same.
const (
	V1_5    Version = "1.5 or older" // the tables are in each profile
	V1_6    Version = "1.6"          // the tables are in the request
	V1_7    Version = "1.7"          // stacks are ranges of a list; several sample types per profile
	V1_8    Version = "1.8"          // like 1.9, but with comments in a profile
	V1_9    Version = "1.9"          // different field numbers in samples
	V1_10   Version = "1.10"
	unclear Version = "" // the encoding is valid in more than one version
)

// recognize determines the version of an encoded request from the types of its fields. The first
// evidence decides; the rest of the message is not checked.
func recognize(request []byte) Version {
	for f := range wire.Fields(request) {
		if f.Number > 2 && f.Number <= 8 { // tables; later versions may add other fields
			return V1_6
		}
	}
	for resource := range wire.Within(request, 1) {
		for scope := range wire.Within(resource, 2) {
			for profile := range wire.Within(scope, 2) {
				if v := recognizeProfile(profile); v != unclear {
					return v
				}
			}
		}
	}
	return unclear
}

func recognizeProfile(profile []byte) Version {
	var old, id, format, payload, twelfth bool
	for f := range wire.Fields(profile) { // in any order: the collector writes them backwards
		switch {
		case f.Is(4, protowire.BytesType): // location_table
			return V1_5
		case f.Is(3, protowire.BytesType), f.Is(5, protowire.VarintType), f.Is(6, protowire.BytesType):
			return V1_7 // location_indices, duration_nanos, period_type
		case f.Is(8, protowire.BytesType), f.Is(9, protowire.VarintType):
			old = true // profile_id, dropped_attributes_count
		case f.Number == 7:
			id = len(f.Bytes) == 16
		case f.Number == 9:
			format = true
		case f.Number == 10:
			payload = true
		case f.Number == 12:
			twelfth = true
		}
	}
	old = old || payload && !format || twelfth && !id // original_payload_format, attribute_indices
	version := unclear
	for sample := range wire.Within(profile, 2) {
		if version = recognizeSample(sample); version != unclear {
			break
		}
	}
	if old && version != V1_10 {
		return V1_8
	}
	return version
}

// recognizeSample distinguishes 1.9 from 1.10, see the table in the package comment. link_index is
// never a list, and an index has 32 bits.
func recognizeSample(sample []byte) Version {
	for f := range wire.Fields(sample) {
		switch {
		case f.Number == 6: // timestamps_unix_nano
			return V1_7
		case f.Is(3, protowire.BytesType):
			return V1_9
		case f.Is(4, protowire.BytesType):
			return V1_10
		case f.Number == 2:
			for v := range f.Varints() {
				if int64(v) != int64(int32(v)) {
					return V1_9
				}
			}
		}
	}
	return unclear
}
