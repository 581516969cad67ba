package bench

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate"
)

// source is what the request would have told.
var source = translate.Source{ProjectID: "4507", PeriodType: "wall", SDK: sentry.ClientSDK{Name: "sentry.node", Version: "10.75.3"}}

// decodeAndMap is the receive path of the product from the payload of an item on.
func decodeAndMap(p payload.Payload) pprofile.Profiles { return decodeAndMapJSON(p.V1, p.JSON) }

func decodeAndMapJSON(v1 bool, json []byte) pprofile.Profiles {
	d := sentry.AcquireDecoder()
	defer d.Release()
	if v1 {
		profile, err := d.Profile(json)
		must(err)
		return translate.ProfileToProfiles(profile, source)
	}
	chunk, err := d.Chunk(json)
	must(err)
	return translate.ChunkToProfiles(chunk, source)
}
