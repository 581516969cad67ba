// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// source is the data that would come from the request.
var source = fromsentry.Source{ProjectID: "4507", PeriodType: "wall", SDK: sentry.ClientSDK{Name: "sentry.node", Version: "10.75.3"}}

// decodeAndMap is the product's receive path, starting with the payload of an item.
func decodeAndMap(p payload.Payload) pprofile.Profiles { return decodeAndMapJSON(p.V1, p.JSON) }

func decodeAndMapJSON(v1 bool, json []byte) pprofile.Profiles {
	d := profile.AcquireDecoder()
	defer d.Release()
	if v1 {
		profile, err := d.Profile(json)
		must(err)
		return fromsentry.ProfileToProfiles(profile, source)
	}
	chunk, err := d.Chunk(json)
	must(err)
	return fromsentry.ChunkToProfiles(chunk, source)
}
